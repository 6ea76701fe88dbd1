"""Reads an OpenAPI document and says what is wrong with it, a line each."""

import json
import sys

from openapi_spec_validator import OpenAPIV31SpecValidator

document = json.load(sys.stdin)
problems = list(OpenAPIV31SpecValidator(document).iter_errors())
for problem in problems:
    print("/".join(str(part) for part in problem.path), problem.message[:500])
operations = [
    operation["operationId"]
    for item in document["paths"].values()
    for operation in item.values()
]
print(len(operations), "operations,", len(document["components"]["schemas"]), "schemas", file=sys.stderr)
sys.exit(1 if problems else 0)
