"""Prints REDbot's errors and warnings as JSON, for each request of the JSON on standard input.

    echo '[{"name": …, "url": …, "method": …, "headers": [[name, value]], "body": …}]' | python redbot-notes.py
"""

import json
import sys
from configparser import ConfigParser

import thor
from httplint.note import levels
from redbot.resource import HttpResource

parser = ConfigParser()
parser.read_dict({"redbot": {"enable_local_access": "True"}})

requests = json.load(sys.stdin)
results = []


def flat(notes):
    return [each for note in notes for each in (note, *flat(note.subnotes))]


def check_next():
    if len(results) == len(requests):
        thor.stop()
        return
    request = requests[len(results)]
    resource = HttpResource(parser["redbot"])
    resource.set_request(request["url"], request["method"], request["headers"], request["body"].encode())

    @thor.events.on(resource)
    def check_done():
        notes = [note for note in flat(resource.response.notes) if note.level in (levels.WARN, levels.BAD)]
        results.append(
            {
                "name": request["name"],
                "status": resource.response.status_code,
                "error": resource.fetch_error and repr(resource.fetch_error),
                "notes": [{"note": type(note).__name__, "summary": note.summary} for note in notes],
            }
        )
        thor.schedule(0, check_next)

    resource.check()


thor.schedule(0, check_next)
thor.run()
json.dump(results, sys.stdout)
