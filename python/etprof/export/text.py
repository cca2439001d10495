# SPDX-License-Identifier: Apache-2.0
# The export's answer for a person: files, agreement, delegation.
import os

WORDS = {"agrees": "ok", "differs": "FAILED", "not_run": "FAILED", "unproven": "PROVES NOTHING",
         "not_deterministic": "NOT DETERMINISTIC"}


def share(x):
    return "no multiply-accumulates" if x is None else f"{100 * x:.1f} % of {{}} multiply-accumulates"


def count(n):
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return str(n)


def render(entry, out) -> str:
    lines = [f"{out / entry['kept_as']}  {entry['bytes']:,} bytes  sha256 {entry['sha256'][:16]}…"]
    for check in entry["checks"]:
        lines += check_lines(check)
    d = entry["delegation"]
    lines.append(
        f"delegation: {d['partitions']} partition{'s' * (d['partitions'] != 1)}, "
        f"{d['nodes_delegated']} operators in, {d['nodes_undelegated']} left, "
        + share(d["macs_share"]).format(count(d["macs"]))
    )
    lines += undelegated_lines(d["undelegated"])
    for warning in entry["warnings"]:
        lines.append(f"warning: {warning}")
    return "\n".join(lines) + "\n"


def check_lines(check):
    if check["against_same_precision"] is None:
        return [f"check {check['method']}: FAILED: {check['why']}"]
    word = WORDS[check["state"]]
    same, fp32 = check["against_same_precision"], check["against_fp32"]
    lines = [
        f"check {check['method']}: {word}; against eager max abs {same['max_abs']}, "
        f"max rel {same['max_rel']}, cosine {same['cosine']}; "
        f"against fp32 cosine {fp32['cosine']}"
    ]
    for other in check["other_shapes"]:
        lines.append(f"  at {other['inputs']}: {'ok' if other['ok'] else other['why']}")
    if not check["ok"]:
        lines.append(f"  {check['why']}")
    elif check["unproven"]:
        lines += [f"  of this one the check proves nothing: {output['why']}" for output in check["unproven"]]
    return lines


def shown(path):
    """Relative when that is shorter to read."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def undelegated_lines(left):
    """One line for each operator and source line, most frequent first."""
    groups = {}
    for node in left:
        place = f"{shown(node['file'])}:{node['line']}" if node["file"] else (node["module"] or "-")
        key = (node["operator"], place, node["reason"], node["hint"])
        groups[key] = groups.get(key, 0) + 1
    ordered = sorted(groups.items(), key=lambda g: (-g[1], g[0][:2]))
    lines = []
    for (operator, place, reason, hint), n in ordered[:20]:
        lines.append(f"  {n:3d} × {operator}  {place}")
        lines.append(f"        {reason}" + (f"; {hint}" if hint else ""))
    if len(ordered) > 20:
        lines.append(f"  … {len(ordered) - 20} more in export.json")
    return lines
