# SPDX-License-Identifier: Apache-2.0
"""The page of a fleet: one file without scripts or requests, which looks like the pages of `etprof
report`. What stands on it is decided in report.py; here is how."""
from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

STYLE = """
:root{color-scheme:light;--bg:#fff;--panel:#f6f7f9;--line:#dfe3e8;--ink:#1d232b;--dim:#59636f;--link:#1b5e9e;
--good:#0a6b60;--warn:#8a5300;--bad:#b3261e;--info:#1b5e9e}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--bg:#14181d;--panel:#1b2027;--line:#2c333c;
--ink:#e3e7ec;--dim:#9da7b3;--link:#7fb6ea;--good:#4fc2b2;--warn:#eab04f;--bad:#f28b82;--info:#7fb6ea}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1160px;padding:1.6rem 1.5rem 3rem;background:var(--bg);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif;
font-variant-numeric:tabular-nums}
h1{margin:0;font-size:1.45rem;line-height:1.25}.subtitle{margin:.2rem 0 1.2rem;color:var(--dim)}
nav ul{display:flex;flex-wrap:wrap;gap:0 1.2rem;margin:0 0 1.4rem;padding:0 0 .5rem;list-style:none;
border-bottom:1px solid var(--line)}nav a{color:var(--dim);font-size:.9rem;text-decoration:none}
a:focus-visible,.box:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.card{margin:0 0 .8rem;padding:.9rem 1.3rem;background:var(--panel);border:1px solid var(--line);
border-left:4px solid var(--info);border-radius:8px;overflow-wrap:anywhere}
.card p{margin:0;font-size:1.08rem;font-weight:600}.card.good{border-left-color:var(--good)}
.card.bad{border-left-color:var(--bad)}.card.warn{border-left-color:var(--warn)}
.card.bad p{color:var(--bad)}.card.warn p{color:var(--warn)}.card.good p{color:var(--good)}
.card ul{margin:.5rem 0 0;padding-left:1.2rem}.card li{margin:.15rem 0}
h2{margin:2.4rem 0 .8rem;padding-bottom:.35rem;border-bottom:1px solid var(--line);font-size:1.2rem}
.box{overflow-x:auto;border:1px solid var(--line);border-radius:8px}table{border-collapse:collapse;width:100%;
font-size:.93rem}th,td{padding:.35rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);
white-space:nowrap}tr:last-child>*{border-bottom:0}thead th{background:var(--panel);color:var(--dim)}
tbody th{font-weight:400}tr>.n{text-align:right}
tr>.w{white-space:normal;min-width:16rem;overflow-wrap:anywhere}
svg{width:9rem;height:1.6rem;vertical-align:middle}polyline{fill:none;stroke:var(--ink);stroke-width:1.3}
line{stroke:var(--bad);stroke-dasharray:3 2}.none{color:var(--dim)}
@media(max-width:640px){body{padding:1rem .9rem 2rem}th,td{padding:.3rem .5rem}}
@media print{@page{margin:14mm}body{max-width:none;padding:0;font-size:10pt}nav{display:none}
thead{display:table-header-group}
.box{overflow:visible;border:0}table{font-size:7.6pt}th,td{padding:.15rem .4rem;white-space:normal}svg{width:6rem}
.card,tr{break-inside:avoid}h2{break-after:avoid}*{print-color-adjust:exact}}
""".strip()


@dataclass
class Sentence:
    """One of the answer. KIND: good, bad, warn, info; MORE lines than those BELOW it stand in a table."""

    kind: str
    words: str
    below: list[str]
    more: int


@dataclass
class Section:
    """A table. Each column has its heading and a class: "" for words, "n" for figures, "w" for what may break.
    PICTURES: the nights of each row. LEFT: what is said below it."""

    key: str
    title: str
    columns: list[tuple[str, str]]
    rows: list[list[str]]
    pictures: list[str] = field(default_factory=list)
    left: str = ""


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def picture(values: Sequence[float], line: int, words: str) -> str:
    """One figure over the moments, up is more; a line where it changed."""
    low, high, last = min(values), max(values), max(len(values) - 1, 1)
    points = " ".join(f"{100 * i / last:.1f},{18 - 16 * (v - low) / max(high - low, 1e-9 * abs(high)):.1f}"
                      for i, v in enumerate(values))
    at = f"{100 * line / last:.1f}"
    drawn = (f"<line x1={at} x2={at} y1=0 y2=20 vector-effect=non-scaling-stroke />"
             f"<polyline vector-effect=non-scaling-stroke points='{points}'/>")
    return (f"<svg viewBox='0 0 100 20' preserveAspectRatio=none role=img aria-label='{html.escape(words)}'>"
            f"{drawn}</svg>")


def unbroken(words: str) -> str:
    return html.escape(words).replace(" %", "&nbsp;%")


def card(one: Sentence) -> str:
    below = "".join(f"<li>{unbroken(line)}" for line in one.below)
    below += f"<li>and {one.more:,} more, below" if one.more else ""
    below = f"<ul>{below}</ul>" if below else ""
    return f"<section class='card {one.kind}'><p>{unbroken(one.words)}</p>{below}</section>"


def cell(tag: str, kind: str, words: str) -> str:
    return f"<{tag}{f' class={kind}' if kind else ''}>{words}"


def table(section: Section) -> str:
    kinds = [kind for _, kind in section.columns]
    heads = [cell("th scope=col", kind, html.escape(name)) for name, kind in section.columns]
    if section.pictures:
        heads.insert(1, "<th scope=col>nights")
    rows = []
    for i, row in enumerate(section.rows):
        cells = [cell("td" if k else "th scope=row", kind, unbroken(words))
                 for k, (kind, words) in enumerate(zip(kinds, row))]
        if section.pictures:
            cells.insert(1, f"<td>{section.pictures[i]}")
        rows.append("<tr>" + "".join(cells))
    left = f"<p class=none>{html.escape(section.left)}</p>" if section.left else ""
    return (f"<h2 id={section.key}>{html.escape(section.title)}</h2>\n"
            f"<div class=box tabindex=0 role=region aria-labelledby={section.key}><table>"
            f"<thead><tr>{''.join(heads)}</thead><tbody>{''.join(rows)}</tbody></table></div>{left}")


def write(title: str, subtitle: str, answer: list[Sentence], sections: list[Section],
          empty: list[tuple[str, str]]) -> str:
    """EMPTY: titles of tables without a row, and what is said of each."""
    links = "".join(f"<li><a href=#{s.key}>{html.escape(s.title)}</a>" for s in sections)
    out = ["<!doctype html><html lang=en><meta charset=utf-8>"
           "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">"
           "<meta name=viewport content='width=device-width'>"
           f"<title>{title}</title><style>{STYLE}</style><body><header><h1>{title}</h1>"
           f"<p class=subtitle>{html.escape(subtitle)}</p></header><nav aria-label=Sections><ul>{links}</ul></nav>",
           "<main>", *map(card, answer), *map(table, sections)]
    if empty:
        listed = "".join(f"<li>{html.escape(title)}: {html.escape(words)}" for title, words in empty)
        out.append(f"<h2 id=none>Nothing to show</h2>\n<ul class=none>{listed}</ul>")
    return "\n".join([*out, "</main></body></html>"]) + "\n"
