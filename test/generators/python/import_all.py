"""Imports every module that was generated, and says how many operations and models there are."""

import importlib
import json
import pkgutil

import docket_api
import docket_api.models

modules = [name for _, name, _ in pkgutil.walk_packages(docket_api.__path__, "docket_api.")]
for name in modules:
    importlib.import_module(name)
operations = [name for name in modules if name.startswith("docket_api.api.") and name.count(".") == 3]
print(json.dumps({"operations": len(operations), "models": len(docket_api.models.__all__)}))
