# SPDX-License-Identifier: Apache-2.0
"""Fails on files of one room that need each other in a circle, by their calls as the objects' symbol tables tell them
(a header may hide what a file really uses), and on modules of the Python package that import each other in one, an
import within a function included. Usage: check_circles.py SOURCE_DIR BUILD_DIR

Known circles stand in circles.txt beside this file: the list may only become shorter, and a line that is no longer
true fails, too."""
import ast
import pathlib
import sys

from checks import execute, expect, finish, skip


def symbols(paths):
    """{path: (defined, needed)} global names of the objects at PATHS, by one run of nm."""
    out = {str(path): (set(), set()) for path in paths}
    told = execute("nm", "-A", "-g", "-P", *out, check=True).stdout
    for line in told.splitlines():
        path, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        out[path][kind in "Uvw"].add(name)
    return out


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
    objects = {}
    for path in sorted((root / "src").rglob("*.c")):
        below = path.relative_to(root / "src")
        found = [*build.glob(f"src/{below.parts[0]}/CMakeFiles/*.dir/{pathlib.Path(*below.parts[1:])}.o")]
        if found:  # else another system's
            objects[str(below)] = str(found[0])
    of = symbols(objects.values())
    needs = {name: of[path][1] for name, path in objects.items()}
    defined_in = {symbol: name for name, path in objects.items() for symbol in of[path][0]}
    graph = {}
    for name in objects:
        room = name.split("/")[0]
        others = {defined_in[s] for s in needs[name] if s in defined_in} - {name}
        graph.setdefault(room, {})[name] = {o for o in others if o.split("/")[0] == room}
    return graph


def for_readers_of_types(node):
    """Whether NODE is `if TYPE_CHECKING:`, whose imports never run."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imported_names(tree, package):
    """What the module TREE of PACKAGE imports, each as the dotted name of a module or of something in one."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[:len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        if not for_readers_of_types(node):
            todo += ast.iter_child_nodes(node)


def imports_between_modules(root):
    """{file: files of the Python package that it imports}, by their path below root."""
    files = {".".join(path.relative_to(root / "python").with_suffix("").parts).removesuffix(".__init__"): path
             for path in sorted((root / "python/etprof").rglob("*.py"))}
    graph = {}
    for name, path in files.items():
        package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
        found = set()
        for dotted in imported_names(ast.parse(path.read_text()), package):
            of = dotted if dotted in files else dotted.rpartition(".")[0]
            found |= {str(files[of].relative_to(root))} if of in files and of != name else set()
        graph[str(path.relative_to(root))] = found
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
    graph["python"] = imports_between_modules(root)
    expect(sum(map(len, graph["python"].values())) > 50, "too few imports between modules below", root / "python")
    found = {" ".join(part) for files in graph.values() for part in circles(files)}
    for new in sorted(found - known):
        expect(False, "files that need each other in a circle", new)
    for gone in sorted(known - found):
        expect(False, f"{listed.name} lists a circle that is none any more (take it out, or write what is left)", gone)
    finish(f"{sum(map(len, graph.values()))} files in {len(graph)} rooms, {len(found)} known circles of files")


if __name__ == "__main__":
    main()
