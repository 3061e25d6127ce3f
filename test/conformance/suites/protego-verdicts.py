"""Prints protego's verdicts as JSON: each question of its own tests, and paths of the robots.txt of 4,000 sites.

    python protego-verdicts.py FOLDER    the unpacked source of protego
"""

import contextlib
import json
import pathlib
import re
import sys

import pytest
from protego import Protego

AGENT = "galley"
MOST_PATHS = 40

tests = pathlib.Path(sys.argv[1]) / "tests"
questions = []
sources = {}


def recording(name):
    original = getattr(Protego, name)

    def ask(self, *args):
        verdict = original(self, *args)
        questions.append({"ask": name, "text": sources[id(self)][0], "args": args, "verdict": verdict})
        return verdict

    return ask


def parse(content, original=Protego.parse):
    robots = original(content)
    # Keeps the object too, so that its id stays its own.
    sources[id(robots)] = (content, robots)
    return robots


def paths_of(text):
    """A few paths that each rule of a file concerns."""
    rules = re.findall(r"(?im)^\s*(?:dis)?allow\s*:\s*(/[^\s#]*)", text)
    plain = [rule.replace("*", "x").rstrip("$") for rule in dict.fromkeys(rules)]
    return ["/", *dict.fromkeys(path + more for path in plain for more in ("", "more"))][:MOST_PATHS]


def verdicts_of(file):
    text = file.read_bytes().decode("utf-8")
    robots = Protego.parse(text)
    return {path: robots.can_fetch("https://site.local" + path, AGENT) for path in paths_of(text)}


fetched = {}
for file in sorted((tests / "test_data").iterdir()):
    with contextlib.suppress(UnicodeDecodeError):
        fetched[file.name] = verdicts_of(file)

Protego.parse = parse
Protego.can_fetch = recording("can_fetch")
Protego.crawl_delay = recording("crawl_delay")
own = [str(tests / name) for name in ("test_protego.py", "test_on_google_spec.py")]
with contextlib.redirect_stdout(sys.stderr):
    code = pytest.main(["-q", "-p", "no:cacheprovider", *own])
if code != 0:
    sys.exit(int(code))
json.dump({"questions": questions, "fetched": fetched}, sys.stdout)
