# SPDX-License-Identifier: Apache-2.0
"""Programs of the system under etprof-launch: the same output, the same complaints, the same exit status as
without it; and the same again under a seccomp filter that refuses 32-bit system calls, as containers have.

The list is fixed; what a machine does not have is left out, what does not say the same twice by itself too.
Every program works on files made here. Both are counted and printed.

usage: test_corpus.py ETPROF_LAUNCH"""
import concurrent.futures
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, skip

LAUNCH = str(pathlib.Path(sys.argv[1]).resolve())
FILTERED = []
LEAST = 120  # fewer say little; a Debian with a compiler has more than 200

# One a line: a program and its arguments between blanks; \\t is a blank inside an argument.
WORK = """
arch
b2sum a b
base32 a
base64 a
basename /x/y.c .c
cat a b empty
chgrp --help
chmod --help
chown --help
cksum a b
comm sorted sorted2
cp -v a /dev/null
csplit -f /dev/null a 100000
cut -d , -f 2 table
date -u -d @0
dd if=a bs=64 count=2 status=none
dir
dircolors -b
dirname /x/y
du -b a
echo -e a\\tb
env -i X=1 printenv
expand a
expr 6 * 7
factor 1234567890123
false
fmt -w 40 a
fold -w 20 a
groups --help
head -n 3 a
id -u
install --help
join sorted sorted2
link a
ln a
logname --help
ls -1
ls no-such-file
md5sum a b
mkdir --help
mkfifo --help
mknod --help
mktemp --help
mv a
nice -n 1 true
nl a
nohup --version
nproc --all
numfmt --to=iec 123456789
od -c b
paste a table
pathchk a
pinky --version
pr -t -2 a
printenv NO_SUCH_VARIABLE
printf %s-%d\\n x 7
ptx table
pwd
readlink -f .
realpath a
rm no-such-file
rmdir no-such-folder
runcon --version
seq 1 3 20
sha1sum a
sha224sum a
sha256sum a b
sha384sum a
sha512sum a
shred --version
shuf --random-source=b -n 3 a
sleep 0
sort -r a
sort --parallel=2 -u a b
split --version
stat -c %s a
stdbuf -o0 cat a
stty --version
sum a
sync --version
tac a
tail -n 2 a
tee --version
test -f a
timeout 5 cat a
timeout 0.1 sleep 5
touch --version
tr a-z A-Z
true
truncate --version
tsort pairs
tty
uname -m
unexpand -a a
uniq -c sorted
unlink no-such-file
uptime --version
users --version
vdir --version
wc a b table
who --version
whoami
yes --version
[ 1 = 1 ]
find . -name a*
find . -size +1c -type f -printf %f\\n
xargs -n 1 echo
grep -c e a
grep -rn zzz-no-such .
grep -E ^[a-f]+ a
egrep x a
fgrep x a
sed -n 2,3p a
sed s/e/E/g a
awk {n+=NF}END{print(n)} a
mawk {n+=NF}END{print(n)} a
gawk {n+=NF}END{print(n)} a
diff a b
diff a a
diff3 a a a
cmp a b
sdiff --version
tar -cf - --mtime=@0 --owner=0 --group=0 a b
tar -tf archive.tar
gzip -nc a
gzip -dc a.gz
zcat a.gz
bzip2 -c a
bunzip2 --version
xz -c a
xz -T2 -c a b
unxz --version
zstd -q -c a
file --version
bc --version
dc --version
ed --version
patch --version
m4 --version
make --version
make -f no-such-file
cmake --version
ninja --version
pkg-config --version
pkg-config --libs no-such-package
perl -e print(2**100,"\\n")
perl -e kill(15,$$)
perl -MPOSIX -e print(floor(2.5),"\\n")
perl -MDigest::SHA=sha256_hex -e print(sha256_hex("a"),"\\n")
python3 -c print(2**100)
python3 -c import(zlib)
python3 -c import\\thashlib;print(hashlib.sha256(b"a").hexdigest())
python3 -c import\\tzlib;print(zlib.crc32(b"a"*100000))
python3 -c import\\tos;os.abort()
python3 -c import\\tsubprocess;print(subprocess.run(["true"]).returncode)
python3 -c import\\tthreading;t=[threading.Thread(target=print)for\\ti\\tin\\trange(4)];\
[x.start()for\\tx\\tin\\tt];[x.join()for\\tx\\tin\\tt]
python3 -c import\\tctypes;print(ctypes.sizeof(ctypes.c_long))
python3 -c import\\tmultiprocessing\\tas\\tm;p=m.Process(target=print,args=(1,));p.start();p.join();print(p.exitcode)
python3 -m json.tool --help
python3 --version
sh -c exit\\t7
sh -c kill\\t-9\\t$$
sh -c kill\\t-SEGV\\t$$
sh -c ulimit\\t-n\\t32;ls
sh -c (echo\\tx|cat;true)&wait
sh -c trap\\t'echo\\tcaught'\\tTERM;kill\\t$$
sh -c for\\ti\\tin\\t1\\t2\\t3;do\\techo\\t$i|sha256sum;done
sh -c sort\\ta|uniq|head\\t-n\\t3|tr\\ta-z\\tA-Z
bash -c echo\\t${BASH_VERSINFO[0]}
bash -c a=(1\\t2\\t3);echo\\t${#a[@]}
bash -c wait\\t<(sleep\\t0);echo\\tdone
dash -c echo\\t$((6*7))
git --version
git hash-object a
git diff --no-index --stat a b
git init --help-no-such
gcc -x c -fsyntax-only prog.c
gcc -O2 -S -o - prog.c
gcc -E prog.c
gcc no-such-file.c
g++ -x c++ -fsyntax-only prog.c
cpp prog.c
as --version
ld --version
ar --version
nm --version
nm no-such-file
objdump --version
objcopy --version
readelf --version
readelf -h /bin/true
size /bin/true
strings -n 8 b
strip --version
ranlib --version
addr2line --version
c++filt _ZN1a1bEv
gdb --version
clang --version
gcov --version
ldd --version
ldd /bin/true
getconf PAGESIZE
getent passwd root
iconv -f UTF-8 -t UTF-16LE a
locale -a
localedef --help
zdump UTC
catchsegv --version
cal --version
chrt -p 1
column -t -s , table
dmesg --version
flock lock true
getopt -o ab: -- -a -b c
hexdump -C b
ionice -p 1
kill -l
last --version
logger --version
look --version
lscpu --version
lsblk --version
mcookie --version
more --version
mount --version
namei /bin
rename --version
rev a
script --version
setarch --list
setsid true
taskset -p 1
unshare --version
uuidgen --version
whereis --version
xxd b
pgrep --version
pkill --version
ps --version
free --version
top -v
vmstat --version
watch --version
w --version
dpkg --version
dpkg --print-architecture
dpkg-query -W -f ${Version}\\n dpkg
dpkg-deb --version
apt-get --version
apt-cache --version
apt-config dump APT::Architecture
debconf --version
openssl version
openssl dgst -sha256 a
openssl enc -base64 -in b
gpg --version
gpgv --version
ssh -V
scp --version
curl --version
wget --version
sqlite3 --version
jq --version
rsync --version
vim --version
nano --version
less --version
man --version
strace --version
qemu-aarch64-static --version
hostname --version
ip -V
ss --version
tput -T xterm cols
infocmp -1 xterm
clear -V
tic -V
""".strip().splitlines()


def files(folder):
    lines = ["line %d: %s" % (i, "the quick brown fox jumps over the lazy dog"[i % 40:]) for i in range(200)]
    text = {"a": "\n".join(lines) + "\n", "b": bytes(range(256)) * 64, "empty": "", "table": "x,1,a\ny,22,b\nz,333,c\n",
            "sorted": "apple\nberry\ncherry\n", "sorted2": "berry\ncherry\ndate\n", "pairs": "a b\nb c\na c\n",
            "lock": "",
            "prog.c": "int main(void) { return 0; }\n"}
    for name, what in text.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(what if isinstance(what, bytes) else what.encode())
    subprocess.run(["tar", "-cf", "archive.tar", "--mtime=@0", "a", "b"], cwd=folder, check=True)
    subprocess.run(["gzip", "-nk", "a"], cwd=folder, check=True)


def run(words, folder):
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": folder, "TZ": "UTC"}
    try:
        done = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120)
    except subprocess.TimeoutExpired:
        return "hangs", b"", b""
    return done.returncode, done.stdout, done.stderr


def check(words, folder):
    plain = run(words, folder)
    ours = [LAUNCH, "--level", "sse", "--", *words]
    return plain if plain == run(words, folder) else None, run(ours, folder), run([*FILTERED, *ours], folder)


def filtered(folder):
    """A program that runs another under such a filter."""
    program = os.path.join(folder, "states")
    done = subprocess.run(["cc", "-O1", "-pthread", str(pathlib.Path(__file__).parent / "states.c"), "-o", program],
                          capture_output=True, text=True)
    expect(done.returncode == 0, "states.c", done.stderr)
    return [program, "under"]


def main():
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        skip("written for Linux on x86-64, where the launcher changes code")
    if subprocess.run([LAUNCH, "--level", "sse", "--", "true"], capture_output=True).returncode != 0:
        skip("this CPU has nothing that level sse hides, or tracing is not permitted")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as built:
        FILTERED[:] = filtered(built)
        files(folder)
        wanted = [[w.replace("\\t", " ") for w in line.split(" ")] for line in WORK]
        here = [w for w in wanted if shutil.which(w[0])]
        same = unsteady = 0
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for words, (plain, ours, under) in zip(here, pool.map(lambda w: check(w, folder), here)):
                if plain is None:
                    unsteady += 1
                    print("not the same twice by itself:", " ".join(words))
                    continue
                same += plain == ours == under
                for how, other in (("under it", ours), ("under it and a filter", under)):
                    expect(plain == other, " ".join(words), "without the launcher %r, %s %r" % (
                        tuple(x[-200:] if isinstance(x, bytes) else x for x in plain), how,
                        tuple(x[-200:] if isinstance(x, bytes) else x for x in other)))
    print("%d programs: %d the same, %d not the same twice by themselves, %d are not on this machine"
          % (len(wanted), same, unsteady, len(wanted) - len(here)))
    expect(same + unsteady >= LEAST, "only %d programs of the list are here" % len(here))
    expect(unsteady <= len(here) // 20, "%d of %d programs say something else each time" % (unsteady, len(here)))
    finish()


if __name__ == "__main__":
    main()
