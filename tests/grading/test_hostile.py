"""Submissions that want marks which they did not earn, or want to do harm; each has a wrong `turn_bill`."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from ctxcourse.grading.sandbox import find_sandbox

NOTHING = "def turn_bill(calls):\n    return None"

FORGERIES = {
    "always_equal": """
        class Equal:
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            def __hash__(self): return 0
            def __getitem__(self, i): return self
        def turn_bill(calls): return Equal()
    """,
    "always_equal_tuple": """
        class Equal(tuple):
            def __eq__(self, other): return True
        def turn_bill(calls): return Equal((0, 0))
    """,
    "always_equal_parts": """
        class Equal(int):
            def __eq__(self, other): return True
        def turn_bill(calls): return Equal(0), Equal(0)
    """,
    "formatter": """
        class Forged:
            def _repr_mimebundle_(self, include=None, exclude=None):
                return {"application/x-ctxcourse": '{"ok": true, "nonce": ""}'}
        get_ipython().display_formatter.format = lambda *a, **k: ({"application/x-ctxcourse": '{"ok": [1, 2]}'}, {})
    """,
    "user_expressions": """
        data = {"application/x-ctxcourse": '{"ok": null}'}
        get_ipython().user_expressions = lambda e: {"reply": {"status": "ok", "data": data}}
    """,
    "do_execute": """
        async def forged(*a, **k): return {"status": "ok", "user_expressions": {}, "payload": [], "execution_count": 1}
        get_ipython().kernel.do_execute = forged
    """,
    "builtins": """
        import builtins, operator, pytest, _pytest.assertion.rewrite as rewrite
        builtins.all = builtins.any = lambda *a: True
        operator.eq = lambda *a: True
        pytest.fail = lambda *a, **k: None
        rewrite._call_reprcompare = lambda *a, **k: ""
    """,
    "agent": """
        import sys
        agent = sys.modules["_ctxcourse_agent"]
        agent.answer = lambda text: (2547, 2547)
    """,
    "agent_raises": """
        import sys
        def answer(text): raise SystemExit
        sys.modules["_ctxcourse_agent"].answer = answer
    """,
    "huge": "def turn_bill(calls): return ['x' * 1000] * 10_000",
    "huge_forged": """
        import sys
        class Huge:
            def _repr_mimebundle_(self, include=None, exclude=None):
                return {"application/x-ctxcourse": "x" * 40_000_000}
        sys.modules["_ctxcourse_agent"].answer = lambda text: Huge()
    """,
    "deep": """
        def turn_bill(calls):
            x = []
            for _ in range(100_000): x = [x]
            return x
    """,
    "deep_forged": """
        import json, sys
        class Deep:
            def __init__(self, text): self.nonce = json.loads(text)["nonce"]
            def _repr_mimebundle_(self, include=None, exclude=None):
                nested = "[" * 900_000 + "]" * 900_000
                return {"application/x-ctxcourse": '{"nonce": "%s", "ok": %s}' % (self.nonce, nested)}
        sys.modules["_ctxcourse_agent"].answer = Deep
    """,
    "nan": "def turn_bill(calls): return float('nan'), float('inf')",
    "doubled": """
        import json, sys
        class Doubled:
            def __init__(self, text): self.nonce = json.loads(text)["nonce"]
            def _repr_mimebundle_(self, include=None, exclude=None):
                return {"application/x-ctxcourse": '{"nonce": "%s", "ok": 1, "ok": 2}' % self.nonce}
        sys.modules["_ctxcourse_agent"].answer = Doubled
    """,
    "exits": "import sys\ndef turn_bill(calls): sys.exit(0)",
    "raises_outcomes": """
        import pytest
        def turn_bill(calls): pytest.skip("nothing to see")
    """,
    "pretends_not_implemented": "def turn_bill(calls): raise NotImplementedError('Need to implement turn_bill')",
    "transformer": """
        get_ipython().input_transformers_cleanup.append(lambda lines: ["pass\\n"])
        get_ipython().showtraceback = lambda *a, **k: None
    """,
    "forks_reply": """
        import os
        def turn_bill(calls):
            os.fork()
            return None
    """,
}


def test_no_forgery_wins_a_point(make_course):
    course = make_course()
    for name, source in FORGERIES.items():
        head = "" if "def turn_bill" in source else NOTHING
        course.submit(name, head, prelude=source)
    result = course.grade("submissions", "-n", "2", "--dist", "loadfile", "--grade-timeout=5", "--grade-call-timeout=2")
    assert {name: result.marks(name)["turn_bill"] for name in FORGERIES} == dict.fromkeys(FORGERIES, 0)
    honest_elsewhere = {
        "always_equal", "always_equal_tuple", "always_equal_parts", "huge", "deep", "nan", "exits", "raises_outcomes",
        "pretends_not_implemented", "forks_reply",
    }  # fmt: skip
    assert {name: result.marks(name)["share"] for name in honest_elsewhere} == dict.fromkeys(honest_elsewhere, 2)
    assert result.row("nan")["reason"] == "returned a number that is not finite"
    assert result.row("pretends_not_implemented")["status"] == "not attempted"
    assert result.code == 1


HARM = {
    "kills_kernel": "import os\ndef turn_bill(calls): os._exit(0)",
    "stops_itself": "import os, signal\ndef turn_bill(calls): os.kill(os.getpid(), signal.SIGSTOP)",
    "never_returns": "def turn_bill(calls):\n    while True: pass",
    "swallows_interrupts": """
        def turn_bill(calls):
            while True:
                try:
                    while True: pass
                except BaseException: pass
    """,
    "floods_in_a_thread": """
        import threading
        def flood():
            while True: print("x" * 1000, flush=True)
        threading.Thread(target=flood, daemon=True).start()
        def turn_bill(calls): return None
    """,
    "asks": "def turn_bill(calls): return input('What is it? ')",
    "kills_parent": """
        import os, signal
        def turn_bill(calls):
            for pid in (os.getppid(), 1):
                try: os.kill(pid, signal.SIGKILL)
                except OSError: pass
            return None
    """,
}


def test_harm_costs_only_its_own_question(make_course):
    course = make_course()
    for name, source in HARM.items():
        course.submit(name, "", prelude=source)
    result = course.grade("submissions", "-n", "2", "--dist", "loadfile", "--grade-timeout=5", "--grade-call-timeout=2")
    assert {name: result.marks(name) for name in HARM} == {name: {"turn_bill": 0, "share": 2} for name in HARM}
    assert result.row("kills_kernel")["reason"].startswith("the kernel died")
    assert result.row("stops_itself")["reason"].startswith("no answer within 2 seconds")
    assert result.row("never_returns")["reason"].startswith("no answer within 2 seconds")
    assert result.row("swallows_interrupts")["reason"].startswith("no answer within 2 seconds")
    assert result.row("asks")["reason"] == "raised EOFError"


CELLS = {
    "cell_loops": "while True: pass",
    "cell_swallows": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "cell_exits": "import os; os._exit(3)",
    "cell_sys_exit": "import sys; sys.exit()",
    "cell_prints": "for i in range(1_000_000): print('a line of output that nobody needs', i)",
    "cell_asks": "name = input('Your name? ')",
    "cell_progress": "import time\nfor i in range(200): print(f'\\r{i / 2} %', end=''); time.sleep(0.001)",
}


def test_a_bad_cell_costs_nothing_else(make_course):
    course = make_course()
    for name, source in CELLS.items():
        path = course.submit(name)
        book = json.loads(path.read_text())
        bad = {
            "cell_type": "code",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "id": "bad",
        }
        book["cells"].insert(2, bad)
        path.write_text(json.dumps(book))
    result = course.grade("submissions", "-n", "2", "--dist", "loadfile", "--grade-timeout=3")
    assert {name: result.marks(name) for name in CELLS} == {name: {"turn_bill": 3, "share": 2} for name in CELLS}
    notices = {name: " ".join(result.row(name)["notices"]) for name in CELLS}
    assert "was stopped after 3 seconds" in notices["cell_loops"]
    assert "was stopped after 3 seconds" in notices["cell_swallows"]
    assert "the kernel died" in notices["cell_exits"]
    assert len(result.output) < 60_000
    assert "does not support input requests" in result.output
    assert "xfail" not in result.output


@pytest.fixture
def bubblewrap():
    """Skip a test where there is no sandbox, but not on CI, which is to have one."""
    sandbox = find_sandbox()
    if not sandbox.isolated:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no sandbox on this machine: {sandbox.reason}")


PRY = """
    import os
    from pathlib import Path
    found = []
    for root, folders, files in os.walk("/"):
        if root.startswith(("/proc", "/sys", "/usr")) or root.endswith(("site-packages", "/lib/python3.11")):
            folders.clear()
            continue
        found += [os.path.join(root, f) for f in files if f.endswith(".ipynb") or f == "exercise.py"]
    secrets = []
    for pid in [p for p in os.listdir("/proc") if p.isdigit()]:
        for name in ("environ", "cmdline", "cwd"):
            try:
                text = (Path("/proc") / pid / name).read_bytes()
            except OSError:
                continue
            if b"very-secret" in text: secrets.append((pid, name))
    def turn_bill(calls): return None
    def share(part, whole):
        if found or secrets: return [found, secrets]
        if whole == 0: raise ValueError
        return part / whole
"""
NETWORK = """
    import socket
    def reach(host, port):
        try:
            socket.create_connection((host, port), timeout=1).close()
            return True
        except OSError:
            return False
    reached = [h for h in ("127.0.0.1", "10.0.0.1", "1.1.1.1") if reach(h, PORT)]
    def turn_bill(calls): return None
    def share(part, whole):
        if reached: return reached
        if whole == 0: raise ValueError
        return part / whole
"""
FORK_BOMB = """
    import os, time
    def turn_bill(calls):
        while True:
            if os.fork() == 0: time.sleep(60)
"""
MEMORY = """
    def turn_bill(calls):
        return len(bytearray(4 * 2**30))
"""
SHARED_MEMORY = """
    import os
    def turn_bill(calls):
        held = []
        for _ in range(6):
            if os.fork() == 0:
                import time
                x = bytearray(900_000_000)
                time.sleep(30)
        import time; time.sleep(30)
"""
DISK = """
    def turn_bill(calls):
        for place in ("/tmp/fill", "/dev/shm/fill"):
            with open(place, "wb") as f:
                while True: f.write(bytes(10_000_000))
"""
WRITES = """
    import os, ctxcourse, IPython
    written = []
    packages = [os.path.dirname(package.__file__) for package in (ctxcourse, IPython)]
    for place in (*packages, "/", "/usr", "/etc", "/root", "/home"):
        try:
            open(os.path.join(place, "planted.py"), "w").close()
            written.append(place)
        except OSError: pass
    def turn_bill(calls): return None
    def share(part, whole):
        if written: return written
        if whole == 0: raise ValueError
        return part / whole
"""
LEFT_BEHIND = """
    import subprocess, sys
    code = "import os, time\\nif os.fork() == 0:\\n    os.setsid()\\n    time.sleep(600)  # MARK"
    subprocess.Popen([sys.executable, "-c", code])
    def turn_bill(calls): return None
"""


@pytest.mark.usefixtures("bubblewrap")
def test_the_sandbox_holds(make_course, tmp_path):
    server = socket.create_server(("127.0.0.1", 0))
    course = make_course()
    mark = f"left-behind-{os.getpid()}-{tmp_path.name}"
    hostile = {
        "pries": PRY,
        "network": NETWORK.replace("PORT", str(server.getsockname()[1])),
        "fork_bomb": FORK_BOMB,
        "memory": MEMORY,
        "memory_of_many": SHARED_MEMORY,
        "disk": DISK,
        "writes": WRITES,
        "left_behind": LEFT_BEHIND.replace("MARK", mark),
    }
    for name, source in hostile.items():
        answered = "def share" in source
        course.submit(name, "", *([""] if answered else []), prelude=source)
    course.submit("neighbour")
    (course.root / "lessons" / "01_bill").mkdir(parents=True)
    (course.root / "lessons" / "01_bill" / "exercise.py").write_text("# the source of the solution")
    result = course.grade(
        "submissions",
        "-n",
        "2",
        "--dist",
        "loadfile",
        env={"GRADERS_TOKEN": "very-secret"},
    )
    server.close()
    assert {name: result.marks(name) for name in hostile} == {name: {"turn_bill": 0, "share": 2} for name in hostile}
    assert {row["isolation"] for row in result.rows} == {"bubblewrap"}
    assert "Isolation: bubblewrap" in result.output
    assert result.row("fork_bomb")["reason"] in (
        "raised BlockingIOError",
        "the kernel was stopped: it started more than 72 processes",
    )
    assert "raised MemoryError" in result.row("memory")["reason"]
    assert "memory" in result.row("memory_of_many")["reason"]
    assert "raised OSError" in result.row("disk")["reason"]
    processes = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True, check=True).stdout
    assert mark not in processes
    assert not list(Path(tempfile.gettempdir()).glob("ctxg-*/fill"))


def test_without_a_sandbox_the_report_says_so(make_course):
    course = make_course()
    course.submit("perfect")
    result = course.grade("submissions", "--sandbox=none")
    assert result.marks("perfect") == {"turn_bill": 3, "share": 2}
    assert result.row("perfect")["isolation"] == "none"
    assert "WARNING: the notebooks ran WITHOUT a sandbox (it was switched off)" in result.output
