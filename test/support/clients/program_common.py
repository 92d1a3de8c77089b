"""What the programs with the Python client have in common: their arguments, a client, lines of JSON."""

import json
import sys

from docket_client import Client

what, asked = sys.argv[1], json.loads(sys.argv[2])
servers = asked.get("servers")


def client_of(servers=servers, **options):
    return Client(
        servers,
        **{
            "api_key": asked.get("apiKey"),
            "discover": asked.get("discover", False),
            "retry_seconds": asked.get("retrySeconds", 30),
            **options,
        },
    )


client = servers and client_of()


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def short_name(error):
    return type(error).__name__.replace("Error", "")


def raised(call):
    try:
        call()
    except Exception as error:
        return error


def named(call):
    """The name of the error that a call raises; None where it doesn't."""
    error = raised(call)
    return error and short_name(error)


def refusal(call):
    """The same, and its code with it."""
    error = raised(call)
    return error and f"{short_name(error)} {getattr(error, 'code', None) or ''}".strip()


def given(**options):
    """Options that the test has a value for: the others are left to the client."""
    return {name: value for name, value in options.items() if value is not None}


def run(programs):
    """Runs the program that was asked for."""
    try:
        programs[what]()
    except Exception as error:
        say(fatal=short_name(error), text=str(error))
        sys.exit(3)
