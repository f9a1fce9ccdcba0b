"""What the scripts make-builtin-* share: where the Go modules of Kubernetes are, and how a file becomes a part of the program."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# The file is taken in by the assembler: as a literal it would cost the compiler seconds.
SOURCE = """#include "apiserver/@HEADER@"

asm(R"(
  .section .rodata
  .balign 16
  .global gantree_@FUNCTION@_begin
  .global gantree_@FUNCTION@_end
gantree_@FUNCTION@_begin:
  .incbin "@FILE@"
gantree_@FUNCTION@_end:
  .byte 0
  .text
)");

extern "C" const char gantree_@FUNCTION@_begin[];
extern "C" const char gantree_@FUNCTION@_end[];

namespace gantree::apiserver {

std::string_view @FUNCTION@() {
  return {gantree_@FUNCTION@_begin, static_cast<std::size_t>(gantree_@FUNCTION@_end - gantree_@FUNCTION@_begin)};
}

}  // namespace gantree::apiserver
"""


def die(sentence):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {sentence}")


def arguments():
    """(version, the file with what is made, the C++ source that holds it)"""
    if len(sys.argv) != 4:
        die("usage: VERSION OUTPUT OUTPUT.cpp")
    data = pathlib.Path(sys.argv[2])
    data.parent.mkdir(parents=True, exist_ok=True)
    return sys.argv[1], data, pathlib.Path(sys.argv[3])


def find_go():
    candidates = [shutil.which("go"), "/usr/local/go/bin/go", "/usr/lib/go/bin/go", *map(str, pathlib.Path("/usr/lib").glob("go-*/bin/go"))]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    die("there is no go on this machine, and what Kubernetes' kinds are like comes from Go modules: "
        "install Debian's golang-go (scripts/install-dependencies build)")


def module_folder(module, version):
    """Found in the module cache, or fetched, with its checksum verified."""
    # In an empty folder, so that no go.mod of somebody else has a say.
    with tempfile.TemporaryDirectory() as empty:
        ran = subprocess.run([find_go(), "mod", "download", "-json", f"{module}@{version}"], cwd=empty, text=True, capture_output=True,
                             env={**os.environ, "GO111MODULE": "on", "GOFLAGS": "", "GOWORK": "off"})
    try:
        answer = json.loads(ran.stdout)
    except ValueError:
        answer = {}
    if ran.returncode != 0 or "Dir" not in answer:
        why = (answer.get("Error") or ran.stderr.strip() or "go gave no reason").splitlines()[-1]
        die(f"the Go module {module}@{version} is not to be had: {why}")
    return pathlib.Path(answer["Dir"])


def read(path):
    try:
        return path.read_text()
    except OSError as problem:
        die(f"{path.name} of Kubernetes cannot be read: {problem.strerror}")


def write_source(source, data, header, function):
    """The file as the text that `function`, which `header` declares, gives."""
    source.write_text(SOURCE.replace("@HEADER@", header).replace("@FUNCTION@", function).replace("@FILE@", str(data.resolve())))
