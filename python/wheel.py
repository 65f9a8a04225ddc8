"""Builds the program and writes the wheel of package bootbench with it, by the standard library alone.

python3 wheel.py FOLDER. On Linux the program is linked statically with OpenBLAS. It is pure Go with TAGS= in the
environment, and with GOOS and GOARCH of another machine.
"""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

here = pathlib.Path(__file__).resolve().parent

# by GOOS: the platforms of the wheel, and what they call processors; a static program needs no particular libc
PLATFORMS = {"linux": "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}", "darwin": "macosx_12_0_{}",
             "windows": "win_{}"}
MACHINES = {"linux": {"amd64": "x86_64", "arm64": "aarch64"}, "darwin": {"amd64": "x86_64", "arm64": "arm64"},
            "windows": {"amd64": "amd64", "arm64": "arm64"}}


def output(*line):
    """What a command prints, in the root of the repository."""
    return subprocess.run(line, cwd=here.parent, check=True, capture_output=True).stdout


def build(folder):
    """The program, the licences in it, and the wheel's platforms."""
    system, machine, *host = output("go", "env", "GOOS", "GOARCH", "GOHOSTOS", "GOHOSTARCH").decode().split()
    native = [system, machine] == host and system == "linux"
    tags = os.environ.get("TAGS", "openblas" if native else "")
    line, program = ["go", "build", "-trimpath", "-o", os.path.join(folder, "program")], os.path.join(folder, "program")
    if tags:
        line += ["-tags", tags + ",netgo,osusergo", "-ldflags", "-s -w -linkmode external -extldflags "
                 "'-static -lopenblas -lgfortran -lquadmath -lpthread -lm'"]
    else:
        line += ["-ldflags", "-s -w"]
    subprocess.run([*line, "./cmd/bootbench"], cwd=here.parent, check=True,
                   env={**os.environ, "CGO_ENABLED": "1" if tags else "0"})
    return (pathlib.Path(program).read_bytes(), output("sh", "scripts/notice.sh", tags),
            PLATFORMS[system].format(MACHINES[system][machine]))


def version():
    """The program's version, as Python writes it: 0.1.0-dev is 0.1.0.dev0."""
    source = (here.parent / "internal/report/document.go").read_text(encoding="utf-8")
    return re.search(r'const release = "(.*)"', source)[1].replace("-dev", ".dev0")


def contents(program, notice, tag):
    """Paths in the wheel, their bytes, and whether they are executable."""
    info = "bootbench-{}.dist-info/".format(version())
    script = "bootbench-{}.data/scripts/bootbench{}".format(version(), ".exe" if tag.startswith("win") else "")
    for file in sorted((here / "bootbench").glob("*.py")):
        yield "bootbench/" + file.name, file.read_bytes(), False
    yield script, program, True
    yield info + "METADATA", "\n".join([
        "Metadata-Version: 2.1", "Name: bootbench", "Version: " + version(),
        "Summary: How well a kernel machine will predict, and which rows it gets wrong", "License: BSD-3-Clause",
        "License-File: LICENSE", "License-File: NOTICE", "Requires-Python: >=3.9", "Requires-Dist: numpy",
        "Requires-Dist: scikit-learn>=1.2", "Description-Content-Type: text/markdown", "",
        (here.parent / "doc/python.md").read_text(encoding="utf-8")]).encode(), False
    yield info + "WHEEL", ("Wheel-Version: 1.0\nGenerator: bootbench\nRoot-Is-Purelib: false\n"
                           + "".join("Tag: py3-none-{}\n".format(t) for t in tag.split("."))).encode(), False
    yield info + "LICENSE", (here.parent / "LICENSE").read_bytes(), False
    yield info + "NOTICE", notice, False


def main(folder):
    with tempfile.TemporaryDirectory() as scratch:
        program, notice, tag = build(scratch)
    path = pathlib.Path(folder, "bootbench-{}-py3-none-{}.whl".format(version(), tag))
    path.parent.mkdir(parents=True, exist_ok=True)
    record = "bootbench-{}.dist-info/RECORD".format(version())
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(name, data, executable=False):
            entry = zipfile.ZipInfo(name)  # of 1980: equal contents make equal wheels
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
        for name, data, executable in contents(program, notice, tag):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            lines.append("{},sha256={},{}\n".format(name, digest, len(data)))
            add(name, data, executable)
        add(record, "".join(lines) + record + ",,\n")
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
