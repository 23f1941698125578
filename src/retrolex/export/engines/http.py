"""A JSON server behind an address: the standard library's client, and errors that say what to do."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request, urlopen

from retrolex.errors import UserError

KEY = "RETROLEX_API_KEY"  # environment variable
SECONDS = 120  # to wait for an answer
SHOWN = 300  # characters of a server's complaint
Item = TypeVar("Item")


class Server:
    """``http://user:password@host:9200/name``: the last part of the path names an index or collection.

    Args:
        url: the address.
        key_header: for a key from the environment variable ``RETROLEX_API_KEY``: header and what stands before the key.

    Raises:
        UserError: it is no such address.
    """

    def __init__(self, url: str, key_header: tuple[str, str]):
        parts = urlsplit(url)
        base, _, name = parts.path.rstrip("/").rpartition("/")
        if parts.scheme not in ("http", "https") or not parts.hostname or not name:
            raise UserError(f"{url!r} does not name an index of a server", mend="give an address like http://localhost:9200/my-index")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self.base = f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{base}"
        self.name = quote(unquote(name), safe="")
        self.headers = {"Accept": "application/json"}
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self.headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        elif os.environ.get(KEY):
            self.headers[key_header[0]] = key_header[1] + os.environ[KEY]

    @property
    def place(self) -> str:
        """The address without user and password."""
        return f"{self.base}/{self.name}"

    def call(self, method: str, path: str, body: Any = None, missing: bool = False) -> Any:
        """The server's answer.

        Args:
            method: GET, PUT, POST, DELETE.
            path: below the base address, with its slash.
            body: sent as JSON, or as it is where it is bytes (JSON lines).
            missing: whether "not found" is an answer: None.

        Raises:
            UserError: no server, or it refuses.
        """
        raw = isinstance(body, bytes)
        content = body if raw or body is None else json.dumps(body, ensure_ascii=False).encode("utf-8")
        headers = self.headers | ({"Content-Type": "application/x-ndjson" if raw else "application/json"} if content is not None else {})
        try:
            with urlopen(Request(self.base + path, content, headers, method=method), timeout=SECONDS) as answer:
                return json.loads(answer.read() or b"null")
        except HTTPError as error:
            if error.code == 404 and missing:
                return None
            said = error.read().decode("utf-8", "replace")[:SHOWN]
            raise UserError(f"the server answers {error.code} to {method} {path}: {said}", where=self.base, mend=advice(error.code)) from None
        except (URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise UserError(f"no answer: {reason}", where=self.base, mend="check that the server runs, and the address") from None


def advice(code: int) -> str:
    """What to do about a refusal."""
    if code in (401, 403):
        return f"give a user and password in the address, or a key in the environment variable {KEY}"
    if code == 404:
        return "load it first: retrolex export TARGET RUN --to URL"
    return "see what the server says"


def batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    """Lists of up to `size` consecutive items."""
    while batch := list(islice(items, size)):
        yield batch
