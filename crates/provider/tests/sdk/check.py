"""Holds our wire formats against the typed models of the official SDKs.

`cargo test -p provider --test sdk` installs them and runs this: check.py PROGRAM SCHEMAS

Every definition, call and result goes through the model a user of that SDK would build it with; unknown
keys are errors. SCHEMAS is where `bfcl-eval` was unpacked: its schemas are checked too.
"""

import glob
import json
import pathlib
import re
import subprocess
import sys
from collections import Counter

import anthropic.types as anthropic
import mcp.types as mcp
import openai.types.chat as chat
import openai.types.responses as responses
from google.genai import types as gemini
from jsonschema import Draft202012Validator
from openai.types.responses import response_input_item_param as response_items
from openai.types.shared_params import FunctionDefinition
from pydantic import TypeAdapter

import clients

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
FORMATS = ["openai", "openai-responses", "anthropic", "gemini", "mcp"]
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


class Wire:
    """Our own code, asked line by line."""

    def __init__(self, program):
        self.program = program

    def ask(self, requests):
        text = "\n".join(json.dumps(request) for request in requests)
        done = subprocess.run([self.program, "wire"], input=text + "\n", capture_output=True, text=True, check=True)
        # Not `splitlines`, which also splits at what is no end of a line in JSON.
        answers = [json.loads(line) for line in done.stdout.split("\n") if line]
        assert len(answers) == len(requests), (len(answers), len(requests))
        return answers


def adapter(kind):
    return TypeAdapter(kind)


CHAT_TOOL = adapter(chat.ChatCompletionFunctionToolParam)
CHAT_FUNCTION = adapter(FunctionDefinition)
CHAT_MESSAGES = adapter(list[chat.ChatCompletionToolMessageParam | chat.ChatCompletionUserMessageParam])
RESPONSES_TOOL = adapter(responses.FunctionToolParam)
RESPONSES_OUTPUTS = adapter(list[response_items.FunctionCallOutput])
ANTHROPIC_TOOL = adapter(anthropic.ToolParam)
ANTHROPIC_MESSAGE = adapter(anthropic.MessageParam)


def whole(given, typed):
    """What a typed dictionary did not take is dropped silently: compare."""
    def plain(value):
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items()}
        return [plain(inner) for inner in value] if not isinstance(value, (str, int, float, bool, type(None))) else value
    assert plain(typed) == given, f"dropped or changed something: {given} became {plain(typed)}"


def check_definition(format, definition):
    if format == "openai":
        whole(definition, CHAT_TOOL.validate_python(definition))
        CHAT_FUNCTION.validate_python(definition["function"])
        name, schema = definition["function"]["name"], definition["function"]["parameters"]
    elif format == "openai-responses":
        whole(definition, RESPONSES_TOOL.validate_python(definition))
        name, schema = definition["name"], definition["parameters"]
    elif format == "anthropic":
        whole(definition, ANTHROPIC_TOOL.validate_python(definition))
        name, schema = definition["name"], definition["input_schema"]
    elif format == "gemini":
        typed = gemini.FunctionDeclaration.model_validate(definition)
        assert typed.model_config["extra"] == "forbid"
        name, schema = definition["name"], definition.get("parameters")
        check_gemini(typed.parameters)
    else:
        mcp.Tool.model_validate(definition)
        name, schema = definition["name"], definition["inputSchema"]
    assert NAME.fullmatch(name), name
    if schema is not None:
        check_root(format, schema)
    return name


def check_root(format, schema):
    assert schema["type"] == "object" and isinstance(schema["properties"], dict), schema
    assert not {"anyOf", "oneOf", "allOf", "enum", "not"} & schema.keys(), schema
    assert set(schema.get("required", [])) <= schema["properties"].keys(), schema
    check_inside(format, schema)
    if format != "gemini":
        Draft202012Validator.check_schema(schema)


def check_inside(format, schema):
    """What the services check and the SDKs do not."""
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        assert kind in {"string", "integer", "number", "boolean", "array", "object", "null"}, schema
    if "array" in kinds:
        assert "items" in schema, schema
    for key, inner in schema.get("properties", {}).items():
        assert format == "mcp" or KEY.fullmatch(key), key
        check_inside(format, inner)
    for inner in [schema.get("items"), *schema.get("anyOf", []), *schema.get("oneOf", [])]:
        if isinstance(inner, dict):
            check_inside(format, inner)


def check_gemini(schema):
    """Every place has a type the SDK knows, not one it made up."""
    if schema is None:
        return
    assert schema.any_of or schema.type in list(gemini.Type), schema
    for inner in [schema.items, *(schema.properties or {}).values(), *(schema.any_of or [])]:
        check_gemini(inner)


def answer_with_calls(format, calls):
    """A model's answer, built with the SDK's own models, as the service would send it."""
    if format == "openai":
        made = [{"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
                for n, (name, args) in enumerate(calls)]
        message = {"role": "assistant", "content": None, "tool_calls": made}
        choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
        typed = chat.ChatCompletion.model_validate(
            {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
    elif format == "openai-responses":
        items = [{"type": "function_call", "call_id": f"call_{n}", "name": name, "arguments": json.dumps(args)}
                 for n, (name, args) in enumerate(calls)]
        typed = responses.Response.model_validate(
            {"id": "x", "object": "response", "created_at": 1, "model": "m", "output": items,
             "parallel_tool_calls": True, "tool_choice": "auto", "tools": []})
    elif format == "anthropic":
        blocks = [{"type": "tool_use", "id": f"call_{n}", "name": name, "input": args}
                  for n, (name, args) in enumerate(calls)]
        typed = anthropic.Message.model_validate(
            {"id": "x", "type": "message", "role": "assistant", "model": "m", "content": blocks,
             "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}})
    elif format == "gemini":
        parts = [{"function_call": {"id": f"call_{n}", "name": name, "args": args}}
                 for n, (name, args) in enumerate(calls)]
        typed = gemini.GenerateContentResponse.model_validate(
            {"candidates": [{"content": {"role": "model", "parts": parts}, "finish_reason": "STOP"}]})
        return typed.model_dump(mode="json", exclude_none=True, by_alias=True)
    else:
        (name, args), = calls
        typed = mcp.CallToolRequestParams.model_validate({"name": name, "arguments": args})
        return typed.model_dump(mode="json", exclude_none=True, by_alias=True)
    return typed.model_dump(mode="json")


def check_results(format, results):
    if format == "openai":
        whole(results, CHAT_MESSAGES.validate_python(results))
    elif format == "openai-responses":
        whole(results, RESPONSES_OUTPUTS.validate_python(results))
    elif format == "anthropic":
        whole(results, ANTHROPIC_MESSAGE.validate_python(results))
    elif format == "gemini":
        typed = gemini.Content.model_validate(results)
        assert all(part.function_response for part in typed.parts)
    else:
        mcp.CallToolResult.model_validate(results)
    assert "duration_ms" not in json.dumps(results), "meta is not for a model"


def example(schema):
    """A value for each parameter."""
    values = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    properties = schema.get("properties", {})
    return {key: values.get(str(inner.get("type")), "x") for key, inner in properties.items() if inner is not False}


def check_builtin(wire):
    tools, = wire.ask([{"do": "tools"}])
    tools.append(json.loads((FIXTURES / "plugin.json").read_text()))
    counted = Counter()
    for format in FORMATS:
        definitions, = wire.ask([{"do": "definitions", "format": format, "tools": tools}])
        if format == "gemini":
            typed = gemini.Tool.model_validate(definitions[0])
            assert len(typed.function_declarations) == len(tools)
            definitions = definitions[0]["functionDeclarations"]
        names = [check_definition(format, definition) for definition in definitions]
        counted["definitions"] += len(names)
        calls = [(name, example(tool["parameters"])) for name, tool in zip(names, tools)]
        groups = [[call] for call in calls] if format == "mcp" else [[call] for call in calls] + [calls]
        outcomes = [{"text": "done"}, {"value": {"a": [1, None]}}, {"error": "it broke"},
                    {"text": "look", "image": "image/png"}, {"text": ""}, {"value": [1, 2]},
                    {"text": "drawing", "image": "image/svg+xml"}]
        for group in groups:
            message = answer_with_calls(format, group)
            read, = wire.ask([{"do": "calls", "format": format, "message": message}])
            assert [(call["name"], call["args"]) for call in read] == group, (format, read)
            counted["calls"] += len(read)
            for turn in range(len(outcomes)):
                given = [outcomes[(turn + n) % len(outcomes)] for n in range(len(group))]
                results, = wire.ask([{"do": "results", "format": format, "message": message, "outcomes": given}])
                check_results(format, results)
                counted["results"] += len(group)
    return counted


def check_streams(wire):
    """Recorded events are the SDK's own, so what we assemble is what its users would get."""
    counted = 0
    readers = {
        "openai": chat.ChatCompletionChunk,
        "gemini": gemini.GenerateContentResponse,
        "openai-responses": adapter(responses.ResponseStreamEvent),
        "anthropic": adapter(anthropic.RawMessageStreamEvent),
    }
    for format, reader in readers.items():
        for path in sorted((FIXTURES / format / "streams").glob("*.sse")):
            if path.stem in {"imitator", "snake_case", "error", "overloaded", "short_end", "out_of_order", "two_lines"}:
                continue  # not what the vendor itself would send
            for line in path.read_text().splitlines():
                if not line.startswith("data: ") or line == "data: [DONE]":
                    continue
                event = json.loads(line.removeprefix("data: "))
                if event.get("type") == "ping":
                    continue  # documented, but not in the models
                if isinstance(reader, TypeAdapter):
                    reader.validate_python(event)
                else:
                    reader.model_validate(event)
                counted += 1
    return counted


def functions(folder):
    """Every distinct function of bfcl-eval."""
    found = {}
    for path in glob.glob(f"{folder}/bfcl_eval/data/**/*.json", recursive=True):
        if "possible_answer" in path:
            continue
        for line in open(path):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            listed = [row] if "func_doc" in path else row.get("function", []) if isinstance(row, dict) else []
            for function in [listed] if isinstance(listed, dict) else listed:
                if isinstance(function, dict) and "parameters" in function:
                    found[json.dumps(function, sort_keys=True)] = function
    return list(found.values())


def check_bfcl(wire, folder):
    tools = [{key: f[key] for key in ("name", "description", "parameters")} for f in functions(folder)]
    accepted = {}
    for format in FORMATS:
        requests = [{"do": "definitions", "format": format, "tools": [tool]} for tool in tools]
        accepted[format] = 0
        for tool, answer in zip(tools, wire.ask(requests)):
            definition = answer[0]["functionDeclarations"][0] if format == "gemini" else answer[0]
            try:
                check_definition(format, definition)
                accepted[format] += 1
            except Exception as error:
                print(f"{format}: {tool['name']}: {error}"[:400])
    names = sorted({tool["name"] for tool in tools})
    mapping, = wire.ask([{"do": "names", "names": names}])
    assert mapping["back"] == names and len(set(mapping["wire"])) == len(names)
    assert all(NAME.fullmatch(name) for name in mapping["wire"])
    changed = sum(one != other for one, other in zip(names, mapping["wire"]))
    return len(tools), accepted, len(names), changed


def main():
    wire = Wire(sys.argv[1])
    print("built-in tools:", dict(check_builtin(wire)), "accepted by the models of the SDKs")
    print("streams:", check_streams(wire), "events of the fixtures are the SDKs' own")
    print("clients:", clients.check(wire, lambda format: json.loads((FIXTURES / format / "requests.json").read_text())))
    count, accepted, names, changed = check_bfcl(wire, sys.argv[2])
    print(f"bfcl-eval: {count} distinct functions; accepted: {accepted}")
    print(f"bfcl-eval: {names} distinct names, {changed} of them mapped; all come back")
    assert count == 3526 and all(number == count for number in accepted.values())


if __name__ == "__main__":
    main()
