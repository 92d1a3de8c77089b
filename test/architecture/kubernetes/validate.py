"""Compares Kubernetes objects with the schemas of the versions asked for: {"objects": [...], "versions": [...]} -> [problems]."""

import json
import sys

import kubernetes_validate

question = json.load(sys.stdin)
problems = []
for version in question["versions"]:
    for thing in question["objects"]:
        name = f"{thing.get('kind')} {thing.get('metadata', {}).get('name')}"
        try:
            # strict: a field that Kubernetes does not have is a problem, too
            kubernetes_validate.validate(thing, version, strict=True)
        except Exception as error:
            problems.append(f"{version}: {name}: {str(error).splitlines()[0]}")
json.dump(problems, sys.stdout)
