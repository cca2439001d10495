# SPDX-License-Identifier: Apache-2.0
"""What auditwheel says of a wheel, and what the programs in it need. Its library reads them, so this file runs twice:
imported by the tests, and as a program in an environment that has auditwheel.

usage: wheel_audit.py PACKAGE TRIPLE POLICY    PACKAGE: the installed folder; prints JSON"""
import json
import pathlib
import posixpath
import subprocess
import sys
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def environment(case, top):
    """A Python with auditwheel below TOP; CASE is left out where pip has none."""
    tools = top / "auditwheel"
    if not tools.exists():
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        done = subprocess.run([tools / "bin/python", "-m", "pip", "install", "-q", "--no-deps", "--only-binary",
                               ":all:", "--require-hashes", "-r", SOURCE / "scripts/requirements/wheel.txt"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            case.skipTest(f"pip could not install auditwheel: {done.stderr.splitlines()[-1]}")
    return tools / "bin"


def least_tag(case, top, wheel):
    """The least manylinux_2_N that auditwheel finds for what is not in the bundle."""
    tools = environment(case, top)
    folder = top / "without the bundle"
    folder.mkdir()
    rest = folder / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(rest, "w") as out:
        for entry in whole.infolist():
            data = whole.read(entry)
            if entry.filename.endswith("/RECORD"):
                data = b"".join(r for r in data.splitlines(keepends=True) if b"/tree/libexec/" not in r)
            if "/tree/libexec/" not in entry.filename:
                out.writestr(entry.filename, data)
    done = subprocess.run([tools / "auditwheel", "show", rest], capture_output=True, text=True, check=True)
    words = done.stdout.replace('"', " ").split()
    found = [int(word.split("_")[2]) for word in words if word.startswith("manylinux_2_")]
    case.assertTrue(found, done.stdout)
    return min(found)


def judge(case, top, package, triple, policy):
    """Holds each program and library below PACKAGE against POLICY, those of the bundle against the bundle."""
    done = subprocess.run([environment(case, top) / "python", __file__, package, triple, policy], capture_output=True,
                          text=True, check=False)
    case.assertEqual(done.returncode, 0, done.stderr)
    found = json.loads(done.stdout)
    case.assertLessEqual({"bin/etprof", "bin/etprof-launch", "lib/libetprof.so"}, set(found["system"]))
    case.assertTrue(all(found["system"][name]["needs"] for name in ("bin/etprof", "lib/libetprof.so")), found["system"])
    case.assertGreater(len(found["bundle"]), 10)
    case.assertTrue(found["bundle"]["etprof-runner"]["needs"])
    wrong = {name: about["wrong"] for side in found.values() for name, about in side.items() if about["wrong"]}
    case.assertEqual(wrong, {})


def dynamic(elf):
    """Names needed, paths searched, names that others may use, strong names wanted, versions defined."""
    needs, paths, gives, wants, versions = [], [], set(), set(), set()
    for section in elf.iter_sections():
        kind = section["sh_type"]
        if kind == "SHT_DYNAMIC":
            needs += [t.needed for t in section.iter_tags() if t.entry.d_tag == "DT_NEEDED"]
            paths += [getattr(t, "rpath", None) or t.runpath for t in section.iter_tags()
                      if t.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")]
        elif kind == "SHT_DYNSYM":
            for symbol in section.iter_symbols():
                bind, place = symbol["st_info"]["bind"], symbol["st_shndx"]
                if place != "SHN_UNDEF":
                    gives.add(symbol.name)
                elif bind == "STB_GLOBAL" and symbol.name:
                    wants.add(symbol.name)
        elif kind == "SHT_GNU_verdef":
            versions |= {next(names).name for _, names in section.iter_versions()}
    return {"needs": needs, "paths": paths, "gives": gives, "wants": wants, "versions": versions}


def against_policy(about, policy):
    """What a system of POLICY may not have."""
    wrong = [f"needs {name}" for name in about["needs"]
             if name not in policy.whitelist and not name.startswith("ld-linux-")]
    for library, version in about["asks"]:
        family, _, number = version.partition("_")
        if number not in policy.symbol_versions.get(family, ()):
            wrong.append(f"{version} of {library}")
    return wrong + [f"searches {p}" for p in about["paths"]]


def leaves(place, path):
    """Whether PATH, a search path of the file PLACE of the bundle, leads out of it."""
    origin, _, rest = path.partition("/")
    return origin != "$ORIGIN" or posixpath.normpath(posixpath.join(posixpath.dirname(place), rest)).startswith("..")


def against_bundle(place, about, bundle):
    """What is not inside the bundle; files are found by their names, as its loader is given all its folders."""
    files = {pathlib.PurePath(name).name: other for name, other in bundle.items()}
    wrong = [f"needs {name}" for name in about["needs"] if name not in files]
    wrong += [f"{version} of {library}" for library, version in about["asks"]
              if library not in files or version not in files[library]["versions"]]
    given = set().union(*(other["gives"] for other in files.values()))
    wrong += [f"name {name}" for name in sorted(about["wants"] - given)]
    return wrong + [f"searches {p}" for paths in about["paths"] for p in paths.split(":") if leaves(place, p)]


def main(package, triple, name):
    from auditwheel import elfutils
    from auditwheel.architecture import Architecture
    from auditwheel.libc import Libc
    from auditwheel.policy import WheelPolicies

    tree = pathlib.Path(package) / "tree"
    home = tree / "libexec/etprof" / triple
    policies = WheelPolicies(libc=Libc.GLIBC, arch=Architecture(triple.split("-")[0]))
    policy = next(p for p in policies if p.name == name)
    system, bundle = {}, {}
    for path, elf in elfutils.elf_file_filter(p for p in sorted(tree.rglob("*")) if p.is_file()):
        about = {**dynamic(elf), "asks": sorted(set(elfutils.elf_find_versioned_symbols(elf)))}
        inside = path.is_relative_to(home)
        (bundle if inside else system)[str(path.relative_to(home if inside else tree))] = about
    for about in system.values():
        about["wrong"] = against_policy(about, policy)
    for place, about in bundle.items():
        about["wrong"] = against_bundle(place, about, bundle)
    told = ("needs", "asks", "wrong")
    print(json.dumps({side: {name: {key: about[key] for key in told} for name, about in files.items()}
                      for side, files in (("system", system), ("bundle", bundle))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
