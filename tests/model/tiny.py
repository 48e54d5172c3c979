"""A tiny random Qwen2 model as a GGUF file, and the two places that publish it: a Hub stand-in and package wheels."""

from __future__ import annotations

import hashlib
import json
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gguf
import numpy as np

REPO, REVISION, FILENAME = "org/tiny-GGUF", "c" * 40, "tiny.gguf"
HIDDEN, LAYERS, HEADS, KV_HEADS, FEED_FORWARD = 32, 2, 4, 2, 64
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{%- for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def byte_alphabet() -> list[str]:
    from tokenizers.pre_tokenizers import ByteLevel

    return sorted(ByteLevel.alphabet())


def write_gguf(path: Path, seed: int = 0) -> None:
    tokens = byte_alphabet() + ["th", "the", *CONTROL]
    merges = ["t h", "th e"]
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(str(path), "qwen2")
    writer.add_block_count(LAYERS)
    writer.add_context_length(256)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if t in CONTROL else 1 for t in tokens])
    writer.add_token_merges(merges)
    end = tokens.index("<|im_end|>")
    writer.add_bos_token_id(tokens.index("<|endoftext|>"))
    writer.add_eos_token_id(end)
    writer.add_pad_token_id(tokens.index("<|endoftext|>"))
    writer.add_chat_template(TEMPLATE)
    head = HIDDEN // HEADS

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, (random.standard_normal(shape) * 0.3).astype(np.float32))

    add("token_embd.weight", len(tokens), HIDDEN)
    add("output.weight", len(tokens), HIDDEN)
    add("output_norm.weight", HIDDEN)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        add(f"{block}.attn_norm.weight", HIDDEN)
        add(f"{block}.ffn_norm.weight", HIDDEN)
        for name, rows in (("q", HEADS * head), ("k", KV_HEADS * head), ("v", KV_HEADS * head)):
            add(f"{block}.attn_{name}.weight", rows, HIDDEN)
            add(f"{block}.attn_{name}.bias", rows)
        add(f"{block}.attn_output.weight", HIDDEN, HEADS * head)
        add(f"{block}.ffn_gate.weight", FEED_FORWARD, HIDDEN)
        add(f"{block}.ffn_up.weight", FEED_FORWARD, HIDDEN)
        add(f"{block}.ffn_down.weight", HIDDEN, FEED_FORWARD)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_wheels(content: bytes, folder: Path, parts: int = 2) -> list[tuple[str, str]]:
    """Cut ``content`` into wheels and return the ``(requirement, member)`` pairs of a carrier."""
    folder.mkdir(parents=True, exist_ok=True)
    size, pairs = -(-len(content) // parts), []
    for number in range(1, parts + 1):
        package, member = f"tiny_part{number}", f"tiny_part{number}/data/part{number:02d}.bin"
        information = f"{package}-1.0.dist-info"
        with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{package}/__init__.py", "raise SystemExit('a carrier was imported')")
            wheel.writestr(member, content[(number - 1) * size : number * size])
            wheel.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
            wheel.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{information}/RECORD", "")
        pairs.append((f"tiny-part{number}==1.0", member))
    return pairs


class HubStandIn(ThreadingHTTPServer):
    """Answers as the Hub does for one repository: HEAD with its headers, GET with ranges, and the list of files.

    ``requests`` lists ``(verb, range)`` of those for files. ``cut_after``: the next GET breaks off after so many bytes.
    ``status``: every request gets this status instead. ``refused``: a file that is listed but answers 403.
    """

    daemon_threads = True

    def __init__(self, content: bytes, repo: str = REPO):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repo, self.files = repo, {FILENAME: content}
        self.cut_after: int | None = None
        self.status: int | None = None
        self.refused = ""
        self.requests: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: HubStandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def _file(self) -> bytes | None:
        """Return the file that is asked for; where there is none, answer the request and return None."""
        server, place = self.server, f"/{self.server.repo}/resolve/{REVISION}/"
        if server.status is None and self.path.startswith(place):
            content = server.files.get(self.path.removeprefix(place))
            if content is not None and not self.path.endswith(server.refused or "\0"):
                server.requests.append((self.command, self.headers.get("Range")))
                return content
        status, body, api = server.status or (403 if server.refused else 404), b"", f"/api/models/{server.repo}"
        lists = {
            f"{api}/revision/{REVISION}": {"id": server.repo, "sha": REVISION},
            f"{api}/tree/{REVISION}": [
                {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                for name, content in server.files.items()
            ],
        }
        if server.status is None and (listing := lists.get(self.path.split("?")[0])) is not None:
            status, body = 200, json.dumps(listing).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
        return None

    def _start(self, content: bytes, first: int = 0) -> None:
        self.send_response(206 if first else 200)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(content) - first))
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()

    def do_HEAD(self) -> None:
        content = self._file()
        if content is not None:
            self._start(content)

    def do_GET(self) -> None:
        content = self._file()
        if content is None:
            return
        span = self.headers.get("Range")
        first = int(span.removeprefix("bytes=").split("-")[0]) if span else 0
        self._start(content, first)
        body = content[first:]
        if self.server.cut_after is not None:
            body, self.server.cut_after = body[: self.server.cut_after], None
            self.wfile.write(body)
            self.wfile.flush()
            self.connection.close()
            return
        self.wfile.write(body)


def describe(content: bytes | None, pairs: list[tuple[str, str]] | None) -> str:
    """Return the JSON that ``fetch_tiny.py`` makes an artefact from; without content, it is a whole repository."""
    about: dict[str, object] = {"repo": REPO, "revision": REVISION, "carrier": pairs}
    if content is not None:
        about |= {"filename": FILENAME, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return json.dumps(about)
