#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""notebook_run.py NOTEBOOK OUT - executes a notebook with Jupyter's own client, as a person would, cell by cell.

OUT gets the executed notebook, OUT.html one cell's output as a page. Checks what the notebook shows, and its size.
"""
import html
import os
import re
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

source, out = sys.argv[1:]
notebook = nbformat.read(source, as_version=4)
NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
nbformat.write(notebook, out)


def outputs(cell, kind):
    return ["".join(output.get("data", {}).get(kind, "")) for output in cell.get("outputs", []) if
            kind in output.get("data", {})]


def printed(cell):
    return "".join(output["text"] for output in cell.get("outputs", []) if output.output_type == "stream")


cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
pages = [page for cell in cells for page in outputs(cell, "text/html")]
recorded = [cell for cell in cells if cell.source.startswith("%%headway")]
assert len(recorded) == 3 and len(pages) == 4, (len(recorded), len(pages))
for page in pages:
    assert 'sandbox="allow-scripts"' in page and "srcdoc=" in page and page.count("<iframe") == 1
    assert len(page) < 4_000_000, len(page)  # 2 MB of a page whose quotes are escaped
for cell in recorded:
    assert outputs(cell, "text/plain"), "a front end without HTML gets text"
whole = "".join(printed(cell) for cell in cells)
assert "sync-in-loop" in whole and "15 steady steps" in whole and "input" in whole, whole
assert "no-device-work" in pages[1] and "NVTX ranges" in outputs(recorded[0], "text/plain")[0]
if "no OpenCL here" not in whole:
    for cell in recorded[1:]:
        assert "12 steps (step_" in outputs(cell, "text/plain")[0], outputs(cell, "text/plain")
with open(out + ".html", "w", encoding="utf-8") as file:
    file.write(f"<!doctype html><meta charset=utf-8><title>a cell</title>{pages[0]}")
size = len(nbformat.writes(notebook))
print(f"{len(cells)} cells, {size} bytes saved, the pages {[len(page) for page in pages]}")
assert size < 8_000_000, size


def run_cells(*sources):
    tried = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in sources])
    NotebookClient(tried, timeout=60, kernel_name="python3", allow_errors=True).execute()
    return tried.cells


# The cells of docs/notebook.md, as somebody types them who has only the document; a name of one's own stays what it is.
with open(os.path.join(os.path.dirname(__file__), "../../docs/notebook.md"), encoding="utf-8") as file:
    blocks = re.findall(r"(?m)(?:^    .*\n)+", file.read())
typed = [re.sub("(?m)^    ", "", block).rstrip("\n") for block in blocks if block.startswith("    %")]
assert [text.split()[0] for text in typed] == ["%load_ext", "%%headway"], typed
cell = run_cells(typed[0], "loader = [1, 2, 3]\ndef train(batch):\n    return sum(i * i for i in range(1000 * batch))", typed[1])
assert not any(output.output_type == "error" for one in cell for output in one.outputs), [one.outputs for one in cell]
assert "step_2" in outputs(cell[2], "text/plain")[0], outputs(cell[2], "text/plain")
cell = run_cells("headway = 5", "%load_ext headway", "headway")
assert outputs(cell[2], "text/plain") == ["5"], cell[2].outputs

cell = run_cells("%load_ext headway", "%%headway\nx = 1\nraise ValueError('mine')", "print(x)\nx", "%%headway --wrong\n1")
errors = [output for output in cell[1].outputs if output.output_type == "error"]
assert [error.ename for error in errors] == ["ValueError"], "the cell's exception is raised, once"
assert any("In [2]" in line for line in errors[0].traceback) and any("raise ValueError" in line for line in
                                                                     errors[0].traceback), errors[0].traceback
assert outputs(cell[1], "text/html"), "what was recorded until then is shown"
assert printed(cell[2]) == "1\n", "the cell ran in the notebook's own names"
assert any(output.get("ename") == "Error" and "--wrong" in output.evalue for output in cell[3].outputs), cell[3].outputs

# Lines are those that the notebook shows, also where the magic is the first of them; a syntax error is one error.
cell = run_cells("%load_ext headway", "%%headway -o lines.hwy\n\nx = 1\ny = x / 0", "%%headway\ndef f(:\n    pass", "%%headway?",
                 "%%headway\nimport asyncio\nawait asyncio.sleep(0)", "%%headway\n%%time\nz = 3", "z",
                 "import os\nos.environ['HOME'] = os.getcwd()", "%%headway -o ~/home.hwy\nhere = 1", "os.unlink('home.hwy')\nos.unlink('lines.hwy')")
plain = [re.sub("\x1b\\[[0-9;]*m", "", "\n".join(line for output in one.outputs for line in output.get("traceback", []))) for one in cell]
assert "----> 4 y = x / 0" in plain[1], plain[1]
assert "In [3], line 2" in plain[2] and "SyntaxError" not in printed(cell[2]), (plain[2], printed(cell[2]))
assert [output.output_type for output in cell[2].outputs] == ["error"], cell[2].outputs  # and no page of a cell that did not run
assert "headway.record() as run" in plain[4] and "never awaited" not in printed(cell[4]), plain[4]
assert outputs(cell[6], "text/plain") == ["3"] and not plain[8] and not plain[9], (plain[8], plain[9])

# Of a cell without device work the HTML says what the text says; where nothing was recorded there is no timeline.
cell = run_cells("%load_ext headway", "%%headway\nimport gc\nfor i in range(3):\n    with headway.range(f'work_{i}'):\n        done = gc.collect()",
                 "%%headway -t nvtx\nx = 1", "%%headway --size 0\n1", "%%headway --size many\n1")
text, page = outputs(cell[1], "text/plain")[0], outputs(cell[1], "text/html")[0]
answer = text[text.index(" headway-"):]  # behind the notes of the recording, which the HTML has, too
assert "Collections" in answer and html.escape(answer) in page and "<iframe" in page, (text, page[:2000])
assert "<iframe" not in outputs(cell[2], "text/html")[0], len(outputs(cell[2], "text/html")[0])
assert "Nothing was seen" in outputs(cell[2], "text/plain")[0] and "ipykernel" not in outputs(cell[2], "text/plain")[0], outputs(cell[2], "text/plain")
for one in cell[3:]:
    assert "--size" in one.outputs[0].evalue and "--max-size" not in one.outputs[0].evalue, one.outputs

if "no OpenCL here" not in whole:
    cell = run_cells("%load_ext headway\nimport headway, numpy, pyopencl\nqueue = pyopencl.CommandQueue(pyopencl.create_some_context(interactive=False))\n"
                     "memory = pyopencl.Buffer(queue.context, pyopencl.mem_flags.READ_WRITE, 65536)\nhost = numpy.zeros(8192)",
                     "def copies():\n    pyopencl.enqueue_copy(queue, host, memory)",
                     "%%headway\nfor i in range(12):\n    with headway.range(f'step_{i}'):\n        copies()\n        pyopencl.enqueue_copy(queue, host, memory)".replace("%%headway", "%%headway -o cells.hwy"),
                     "headway.show('cells.hwy')", "import os\nos.unlink('cells.hwy')")
    assert re.search(r"<small>\d+\.py is In \[2\]</small>", outputs(cell[3], "text/html")[0]), "what was kept is told by its cells, too"
    page = outputs(cell[2], "text/html")[0]
    assert re.search(r"<small>\d+\.py is In \[2\]</small>", page), page[:2000]

    # What is used before Headway is there is told in the text, too; a recording without OpenCL does not end OpenCL for the kernel.
    late = "import numpy, pyopencl\nqueue = pyopencl.CommandQueue(pyopencl.create_some_context(interactive=False))\n" \
        "memory = pyopencl.Buffer(queue.context, pyopencl.mem_flags.READ_WRITE, 65536)\nhost = numpy.zeros(8192)"
    copy = "%%headway\ncopied = pyopencl.enqueue_copy(queue, host, memory)"
    cell = run_cells(late, "%load_ext headway", copy)
    for kind in ("text/plain", "text/html"):
        assert "OpenCL is not recorded: it was used before Headway was loaded" in outputs(cell[2], kind)[0], outputs(cell[2], kind)[0][:500]
    cell = run_cells("%load_ext headway", "%%headway -t python\n" + late, copy)
    assert "OpenCL is not recorded" not in outputs(cell[2], "text/html")[0] and "No device work" not in outputs(cell[2], "text/plain")[0], cell[2].outputs
