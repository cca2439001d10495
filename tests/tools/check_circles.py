# SPDX-License-Identifier: Apache-2.0
"""Fails on files of one room that need each other in a circle, by their calls as the objects' symbol tables tell them
(a header may hide what a file really uses). Usage: check_circles.py SOURCE_DIR BUILD_DIR

Known circles stand in circles.txt beside this file: the list may only become shorter, and a line that is no longer true
fails, too."""
import pathlib
import subprocess
import sys

from checks import expect, finish, skip


def symbols(path):
    """(defined, needed) global names of the object at PATH."""
    defined, needed = set(), set()
    out = subprocess.run(["nm", "-g", "-P", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        name, kind = line.split()[:2]
        (needed if kind in "Uvw" else defined).add(name)
    return defined, needed


def circles(graph):
    """Strongly connected parts of more than one node (Tarjan's algorithm, without recursion)."""
    index, low, on, stack, out = {}, {}, set(), [], []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, edges = work[-1]
            for to in edges:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(sorted(graph[to]))))
                    break
                if to in on:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = set()
                    while node not in part:
                        part.add(stack.pop())
                    on -= part
                    if len(part) > 1:
                        out.append(sorted(part))
    return out


def calls_between_files(root, build):
    """{room: {file: files of the same room whose symbols it needs}}, files named by their path below src."""
    defined_in, needs, files = {}, {}, []
    for path in sorted((root / "src").rglob("*.c")):
        below = path.relative_to(root / "src")
        room = below.parts[0]
        inside = pathlib.Path(*below.parts[1:])
        found = list(build.glob(f"src/{room}/CMakeFiles/*.dir/{inside}.o"))
        if not found:  # another system's
            continue
        defined, needed = symbols(found[0])
        files.append((room, str(below)))
        needs[str(below)] = needed
        for name in defined:
            defined_in[name] = str(below)
    graph = {}
    for room, name in files:
        others = {defined_in[s] for s in needs[name] if s in defined_in} - {name}
        graph.setdefault(room, {})[name] = {o for o in others if o.split("/")[0] == room}
    return graph


def main():
    root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    try:
        graph = calls_between_files(root, build)
    except FileNotFoundError:
        skip("no nm here (binutils)")
    expect(sum(map(len, graph.values())) > 100, "too few objects in", build)
    listed = pathlib.Path(__file__).with_name("circles.txt")
    known = {line for line in listed.read_text().splitlines() if line and not line.startswith("#")}
    found = {" ".join(part) for files in graph.values() for part in circles(files)}
    for new in sorted(found - known):
        expect(False, "files that need each other in a circle", new)
    for gone in sorted(known - found):
        expect(False,
               f"{listed.name} lists a circle that is none any more (take it out, or write down what is left of it)",
               gone)
    finish(f"{sum(map(len, graph.values()))} files in {len(graph)} rooms, {len(found)} known circles of files")


if __name__ == "__main__":
    main()
