"""The official clients, unmodified, talk to a server that answers with what we write.

What they ask is read by us, what we answer is read by them: whole, as events, and through their helpers that
put events together. Every answer and event is also held against their typed models, unknown fields aside.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai
from anthropic import types as anthropic_types
from google import genai
from google.genai import errors as gemini_errors
from google.genai import types as gemini
from openai.types import chat, responses
from pydantic import BaseModel, TypeAdapter

PIXEL = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
USAGE = {"input": 120, "output": 7, "cache_read": 100, "cache_write": 15}
NOTE = {"id": "1", "tool": "read", "input": {"path": "a"}, "status": "success", "duration_ms": 3}


def reply(text, calls=(), finish="stop", notes=()):
    return {"text": text, "calls": list(calls), "finish": finish, "usage": USAGE, "tool_calls": list(notes)}


CALLS = [
    {"id": "call_1", "name": "get_weather", "args": {"city": "Oslo \u2028 \u0085 \"ß\""}},
    {"id": "call_2", "name": "get_weather", "args": {"city": "Rome"}},
]
REPLIES = [
    reply("Hello, who is there? ß \u2028 \u0085 😀\n\ndata: x\r\n"),
    reply("Two calls of ours.", notes=[NOTE, NOTE]),
    reply("", CALLS, "calls"),
    reply("Let me look.", CALLS, "calls", [NOTE]),
    reply("Once upon", finish="length"),
    reply("", finish="filtered"),
    reply(""),
]


class Answer(BaseModel):
    ok: bool


class Server:
    """Gives the answers it was told to, in order, and keeps what it was asked."""

    def __init__(self):
        self.asked, self.answers = [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                length = int(self.headers.get("content-length", 0))
                outer.asked.append((self.path, json.loads(self.rfile.read(length) or b"null")))
                status, kind, body = outer.answers.pop(0)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def will_answer(self, *answers):
        """JSON as it is, text as events."""
        assert not self.answers, "not all answers were asked for"
        for status, body in answers:
            stream = isinstance(body, str)
            kind = "text/event-stream" if stream else "application/json"
            self.answers.append((status, kind, (body if stream else json.dumps(body)).encode()))

    def last(self):
        return self.asked[-1][1]


class Judge:
    def __init__(self, wire):
        self.wire, self.server = wire, Server()
        self.openai = openai.OpenAI(api_key="x", base_url=self.server.url + "/v1", max_retries=0)
        self.anthropic = anthropic.Anthropic(api_key="x", base_url=self.server.url, max_retries=0)
        options = gemini.HttpOptions(base_url=self.server.url, retry_options=gemini.HttpRetryOptions(attempts=1))
        self.gemini = genai.Client(api_key="x", http_options=options)
        self.counted = {"answers": 0, "events": 0, "requests": 0, "errors": 0}

    def written(self, format, given):
        answer, = self.wire.ask([{"do": "reply", "format": format, "reply": given}])
        assert "error" not in answer, answer
        self.counted["answers"] += 1
        return answer

    def read(self, format):
        """What we understand of what was asked last."""
        body = self.server.last()
        answer, = self.wire.ask([{"do": "read", "format": format, "body": body}])
        assert "error" not in answer, (answer, body)
        self.counted["requests"] += 1
        return answer

    def events(self, stream):
        for line in stream.split("\n"):
            if line.startswith("data: ") and line != "data: [DONE]":
                event = json.loads(line.removeprefix("data: "))
                if event.get("type") != "ping":
                    self.counted["events"] += 1
                    yield event


def said(calls):
    return [(call["id"], call["name"], call["args"]) for call in calls]


# ---------------------------------------------------------------- OpenAI chat

FINISH_CHAT = {"stop": "stop", "calls": "tool_calls", "length": "length", "filtered": "content_filter"}


def check_chat(judge):
    client, server = judge.openai, judge.server
    ask = {"model": "helper", "messages": [{"role": "user", "content": "Hi"}]}
    for given in REPLIES:
        ours = judge.written("openai", given)
        chat.ChatCompletion.model_validate(ours["whole"], strict=True)
        for event in judge.events(ours["stream"]):
            chat.ChatCompletionChunk.model_validate(event, strict=True)
        server.will_answer((200, ours["whole"]))
        whole = client.chat.completions.create(**ask)
        server.will_answer((200, ours["stream"]))
        with client.chat.completions.stream(**ask, stream_options={"include_usage": True}) as stream:
            if given["finish"] in ("length", "filtered"):
                # The helper raises on purpose where an answer was cut.
                raised = None
                try:
                    stream.until_done()
                    stream.get_final_completion()
                except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as error:
                    raised = error
                final = None
            else:
                final = stream.get_final_completion()
        for answer in filter(None, [whole, final]):
            choice = answer.choices[0]
            assert (choice.message.content or "") == given["text"], answer
            assert choice.finish_reason == FINISH_CHAT[given["finish"]], answer
            calls = [(c.id, c.function.name, json.loads(c.function.arguments)) for c in choice.message.tool_calls or []]
            assert calls == said(given["calls"]), answer
            assert answer.usage.prompt_tokens == 120 and answer.usage.prompt_tokens_details.cached_tokens == 100
        assert whole.model_extra["tool_calls"] == given["tool_calls"]
        server.will_answer((200, ours["stream"]))
        chunks = list(client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}))
        assert chunks[-1].model_extra["tool_calls"] == given["tool_calls"]
        text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        assert text == given["text"]
        assert judge.read("openai")["stream"] == "Yes"


def ask_chat(judge):
    client, server = judge.openai, judge.server
    tool = {"type": "function", "function": {"name": "get_weather", "description": "Weather.", "parameters": SCHEMA}}
    server.will_answer((200, judge.written("openai", REPLIES[3])["whole"]))
    messages = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": data_url(), "detail": "low"}},
    ]}]
    answer = client.chat.completions.create(model="helper", messages=messages, tools=[tool], tool_choice="auto")
    # The answer goes back as the object it is.
    messages.append(answer.choices[0].message)
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "rain"}
                 for call in answer.choices[0].message.tool_calls]
    server.will_answer((200, judge.written("openai", REPLIES[0])["whole"]))
    client.chat.completions.create(model="helper", messages=messages, tools=[tool])
    read = judge.read("openai")
    assert read["system"] == "Be brief." and read["tools"] == [["get_weather", "Weather.", SCHEMA]], read
    check_loop(read)
    # Structured answers, and a tool from a model.
    server.will_answer((200, judge.written("openai", reply('{"ok": true}'))["whole"]))
    parsed = client.chat.completions.parse(
        model="helper", messages=messages[:2], response_format=Answer, tools=[openai.pydantic_function_tool(Answer)],
        max_completion_tokens=9, stop=["a"], reasoning_effort="low")
    assert parsed.choices[0].message.parsed == Answer(ok=True)
    read = judge.read("openai")
    assert "Schema" in read["options"] and "Some(9)" in read["options"] and "Low" in read["options"], read
    assert read["tools"][0][0] == "Answer"


def data_url():
    import base64
    return "data:image/png;base64," + base64.b64encode(PIXEL).decode()


def check_loop(read):
    """A question with an image, an answer with two calls, and their results."""
    user, model, results = read["messages"]
    assert user["user"][0] == {"text": "What is this?"} and user["user"][1]["image"]["mime"] == "image/png", read
    assert model["model"]["text"] == "Let me look.", read
    assert said(model["model"]["calls"]) == said(CALLS), read
    for call, result in zip(CALLS, results["results"], strict=True):
        assert result["blocks"] == [{"text": "rain"}] and not result["is_error"], read
        # Some name the tool and not the call.
        assert (result.get("id") or result["name"]) in (call["id"], call["name"]), read


# ----------------------------------------------------------- OpenAI responses

def check_responses(judge):
    client, server = judge.openai, judge.server
    reader = TypeAdapter(responses.ResponseStreamEvent)
    for given in REPLIES:
        ours = judge.written("openai-responses", given)
        responses.Response.model_validate(ours["whole"])
        numbers = []
        for event in judge.events(ours["stream"]):
            reader.validate_python(event)
            numbers.append(event["sequence_number"])
        assert numbers == list(range(len(numbers)))
        server.will_answer((200, ours["whole"]))
        whole = client.responses.create(model="helper", input="Hi")
        server.will_answer((200, ours["stream"]))
        cut = given["finish"] in ("length", "filtered")
        with client.responses.stream(model="helper", input="Hi") as stream:
            seen = list(stream)
            final = seen[-1].response if cut else stream.get_final_response()
        assert seen[-1].type == ("response.incomplete" if cut else "response.completed")
        for answer in [whole, final]:
            assert answer.output_text == given["text"], answer
            calls = [(c.call_id, c.name, json.loads(c.arguments)) for c in answer.output if c.type == "function_call"]
            assert calls == said(given["calls"]), answer
            assert answer.status == ("incomplete" if cut else "completed"), answer
            assert answer.usage.total_tokens == 127 and answer.usage.input_tokens_details.cached_tokens == 100
        assert whole.model_extra["tool_calls"] == given["tool_calls"]
        deltas = "".join(event.delta for event in seen if event.type == "response.output_text.delta")
        assert deltas == given["text"]


def ask_responses(judge):
    client, server = judge.openai, judge.server
    tool = {"type": "function", "name": "get_weather", "description": "Weather.", "parameters": SCHEMA, "strict": True}
    server.will_answer((200, judge.written("openai-responses", REPLIES[3])["whole"]))
    items = [{"role": "user", "content": [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": data_url(), "detail": "auto"},
    ]}]
    answer = client.responses.create(model="helper", input=items, tools=[tool], instructions="Be brief.")
    items += answer.output
    items += [{"type": "function_call_output", "call_id": call["id"], "output": "rain"} for call in CALLS]
    server.will_answer((200, judge.written("openai-responses", REPLIES[0])["whole"]))
    client.responses.create(model="helper", input=items, tools=[tool], instructions="Be brief.")
    read = judge.read("openai-responses")
    assert read["system"] == "Be brief." and read["tools"] == [["get_weather", "Weather.", SCHEMA]], read
    check_loop(read)
    # Only the results, because the rest is kept by the server.
    server.will_answer((200, judge.written("openai-responses", REPLIES[0])["whole"]))
    client.responses.create(model="helper", input=items[-2:], previous_response_id=answer.id)
    read = judge.read("openai-responses")
    assert read["previous"] == answer.id and len(read["messages"]) == 1, read
    server.will_answer((200, judge.written("openai-responses", reply('{"ok": true}'))["whole"]))
    parsed = client.responses.parse(model="helper", input="Hi", text_format=Answer, reasoning={"effort": "low"})
    assert parsed.output_parsed == Answer(ok=True)
    assert "Schema" in judge.read("openai-responses")["options"]


# ------------------------------------------------------------------ Anthropic

FINISH_MESSAGES = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "filtered": "refusal"}


def check_messages(judge):
    client, server = judge.anthropic, judge.server
    reader = TypeAdapter(anthropic_types.RawMessageStreamEvent)
    ask = {"model": "helper", "max_tokens": 99, "messages": [{"role": "user", "content": "Hi"}]}
    for given in REPLIES:
        ours = judge.written("anthropic", given)
        anthropic_types.Message.model_validate(ours["whole"], strict=True)
        for event in judge.events(ours["stream"]):
            reader.validate_python(event, strict=True)
        server.will_answer((200, ours["whole"]))
        whole = client.messages.create(**ask)
        server.will_answer((200, ours["stream"]))
        with client.messages.stream(**ask) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        assert text == given["text"]
        for answer in [whole, final]:
            assert "".join(block.text for block in answer.content if block.type == "text") == given["text"], answer
            calls = [(block.id, block.name, block.input) for block in answer.content if block.type == "tool_use"]
            assert calls == said(given["calls"]), answer
            assert answer.stop_reason == FINISH_MESSAGES[given["finish"]], answer
            usage = answer.usage
            assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (5, 100, 7), answer
        assert whole.model_extra["tool_calls"] == given["tool_calls"]
        server.will_answer((200, ours["stream"]))
        events = list(client.messages.create(**ask, stream=True))
        assert events[-1].model_extra["tool_calls"] == given["tool_calls"]


def ask_messages(judge):
    client, server = judge.anthropic, judge.server
    import base64
    image = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PIXEL).decode()}
    messages = [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image", "source": image}]}]
    tool = {"name": "get_weather", "description": "Weather.", "input_schema": SCHEMA}
    more = {"model": "helper", "max_tokens": 99, "tools": [tool], "system": [
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]}
    server.will_answer((200, judge.written("anthropic", REPLIES[3])["stream"]))
    with client.messages.stream(messages=messages, **more) as stream:
        answer = stream.get_final_message()
    messages.append({"role": "assistant", "content": answer.content})
    messages.append({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call["id"], "content": "rain"} for call in CALLS]})
    server.will_answer((200, judge.written("anthropic", REPLIES[0])["whole"]))
    client.messages.create(messages=messages, **more)
    read = judge.read("anthropic")
    assert read["system"] == "Be brief." and read["tools"] == [["get_weather", "Weather.", SCHEMA]], read
    check_loop(read)
    server.will_answer((200, judge.written("anthropic", reply('{"ok": true}'))["whole"]))
    parsed = client.messages.parse(messages=messages[:1], output_format=Answer, model="helper", max_tokens=99)
    assert parsed.parsed_output == Answer(ok=True)
    assert "Schema" in judge.read("anthropic")["options"]
    # Its own loop, which runs functions and sends their results.
    cities = []

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """Weather."""
        cities.append(city)
        return "rain"

    # It wants the server to keep the conversation, and goes on without when it is told that ours does not.
    refused = {"do": "read", "format": "anthropic", "body": {"thread": {"type": "create"}, "messages": []}}
    refused, = judge.wire.ask([refused])
    error = {"do": "error", "format": "anthropic", "status": 400, "kind": refused["kind"], "message": refused["error"]}
    error, = judge.wire.ask([error])
    server.will_answer((400, error["body"]),
                       (200, judge.written("anthropic", REPLIES[3])["whole"]),
                       (200, judge.written("anthropic", REPLIES[0])["whole"]))
    runner = client.beta.messages.tool_runner(model="helper", max_tokens=99, messages=messages[:1], tools=[get_weather])
    assert runner.until_done().content[0].text == REPLIES[0]["text"]
    assert cities == [call["args"]["city"] for call in CALLS]
    check_loop(judge.read("anthropic"))


# --------------------------------------------------------------------- Gemini

FINISH_GEMINI = {"stop": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "filtered": "SAFETY"}


def check_contents(judge):
    client, server = judge.gemini, judge.server
    for given in REPLIES:
        ours = judge.written("gemini", given)
        for event in [ours["whole"], *judge.events(ours["stream"])]:
            # Its client takes away what it does not know; the model itself forbids it.
            event = {key: value for key, value in event.items() if key != "tool_calls"}
            gemini.GenerateContentResponse.model_validate(event)
        server.will_answer((200, ours["whole"]))
        whole = client.models.generate_content(model="helper", contents="Hi")
        assert (whole.text or "") == given["text"], whole
        assert [(c.id, c.name, c.args) for c in whole.function_calls or []] == said(given["calls"]), whole
        assert whole.candidates[0].finish_reason.value == FINISH_GEMINI[given["finish"]], whole
        assert whole.usage_metadata.total_token_count == 127
        server.will_answer((200, ours["stream"]))
        chunks = list(client.models.generate_content_stream(model="helper", contents="Hi"))
        assert "".join(chunk.text or "" for chunk in chunks) == given["text"], chunks
        calls = [(c.id, c.name, c.args) for chunk in chunks for c in chunk.function_calls or []]
        assert calls == said(given["calls"]), chunks
        assert chunks[-1].candidates[0].finish_reason.value == FINISH_GEMINI[given["finish"]], chunks
        assert chunks[-1].usage_metadata.cached_content_token_count == 100
        assert "/models/helper:streamGenerateContent?alt=sse" in server.asked[-1][0]


def ask_contents(judge):
    client, server = judge.gemini, judge.server
    declared = {"name": "get_weather", "description": "Weather.", "parameters_json_schema": SCHEMA}
    config = gemini.GenerateContentConfig(
        system_instruction="Be brief.", tools=[gemini.Tool(function_declarations=[declared])], temperature=0.5,
        tool_config={"function_calling_config": {"mode": "AUTO"}})
    contents = [gemini.Content(role="user", parts=[
        gemini.Part(text="What is this?"), gemini.Part.from_bytes(data=PIXEL, mime_type="image/png")])]
    server.will_answer((200, judge.written("gemini", REPLIES[3])["whole"]))
    answer = client.models.generate_content(model="helper", contents=contents, config=config)
    contents.append(answer.candidates[0].content)
    contents.append(gemini.Content(role="user", parts=[
        gemini.Part(function_response={"id": call["id"], "name": call["name"], "response": {"output": "rain"}})
        for call in CALLS]))
    server.will_answer((200, judge.written("gemini", REPLIES[0])["whole"]))
    client.models.generate_content(model="helper", contents=contents, config=config)
    read = judge.read("gemini")
    assert read["system"] == "Be brief." and read["tools"] == [["get_weather", "Weather.", SCHEMA]], read
    check_loop(read)
    # A chat keeps the pieces of a stream as it got them.
    session = client.chats.create(model="helper")
    server.will_answer((200, judge.written("gemini", REPLIES[0])["stream"]))
    list(session.send_message_stream("Hi"))
    server.will_answer((200, judge.written("gemini", REPLIES[1])["stream"]))
    list(session.send_message_stream("And?"))
    assert [list(m) for m in judge.read("gemini")["messages"]] == [["user"], ["model"], ["user"]]
    assert judge.read("gemini")["messages"][1]["model"]["text"] == REPLIES[0]["text"]
    # Structured answers.
    server.will_answer((200, judge.written("gemini", reply('{"ok": true}'))["whole"]))
    structured = gemini.GenerateContentConfig(response_mime_type="application/json", response_schema=Answer)
    parsed = client.models.generate_content(model="helper", contents="Hi", config=structured)
    assert parsed.parsed == Answer(ok=True)
    assert "Schema" in judge.read("gemini")["options"]
    # Functions that its client runs itself.
    cities = []

    def get_weather(city: str) -> str:
        """Weather."""
        cities.append(city)
        return "rain"

    server.will_answer((200, judge.written("gemini", REPLIES[3])["whole"]),
                       (200, judge.written("gemini", REPLIES[0])["whole"]))
    tools = gemini.GenerateContentConfig(tools=[get_weather])
    answer = client.models.generate_content(model="helper", contents=contents[:1], config=tools)
    assert answer.text == REPLIES[0]["text"] and cities == [call["args"]["city"] for call in CALLS]
    check_loop(judge.read("gemini"))


# --------------------------------------------------- errors, models, requests

def check_errors(judge):
    server = judge.server
    hello = [{"role": "user", "content": "Hi"}]
    ways = {
        "openai": (openai.APIStatusError, lambda stream: judge.openai.chat.completions.create(
            model="helper", messages=hello, stream=stream)),
        "openai-responses": (openai.APIStatusError, lambda stream: judge.openai.responses.create(
            model="helper", input="Hi", stream=stream)),
        "anthropic": (anthropic.APIStatusError, lambda stream: judge.anthropic.messages.create(
            model="helper", max_tokens=9, messages=hello, stream=stream)),
        "gemini": (gemini_errors.APIError, lambda stream: (
            judge.gemini.models.generate_content_stream if stream else judge.gemini.models.generate_content)(
                model="helper", contents="Hi")),
    }
    for format, (kind, ask) in ways.items():
        for status in [400, 401, 403, 404, 413, 429, 500, 503, 504]:
            ours, = judge.wire.ask([{"do": "error", "format": format, "status": status, "kind": "some_kind",
                                     "message": "it broke"}])
            server.will_answer((status, ours["body"]))
            error = raised(lambda: ask(False))
            assert isinstance(error, kind), (format, status, error)
            assert getattr(error, "status_code", None) == status or error.code == status
            assert "it broke" in str(error), error
            if format != "gemini":
                assert (error.error_code if format == "anthropic" else error.code) == "some_kind", error
            server.will_answer((200, ours["stream"]))
            error = raised(lambda: list(ask(True)))
            bases = (openai.APIError, anthropic.APIError, gemini_errors.APIError)
            assert isinstance(error, bases) and "it broke" in str(error), (format, error)
            judge.counted["errors"] += 2


def raised(run):
    try:
        run()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def check_models(judge):
    """One list for everybody, and one for Gemini alone."""
    server, clients = judge.server, [judge.openai, judge.anthropic, judge.gemini]
    for format in ["openai", "gemini"]:
        ours, = judge.wire.ask([{"do": "models", "format": format}])
        for client in clients if format == "openai" else clients[2:]:
            server.will_answer((200, ours))
            names = [getattr(model, "id", None) or model.name for model in client.models.list()]
            expected = ["models/helper", "models/writer"] if client is judge.gemini else ["helper", "writer"]
            assert names == expected, names
        for model in ours.get("data", []):
            anthropic_types.ModelInfo.model_validate(model)
            openai.types.Model.model_validate(model)


REQUESTS = {
    "openai": TypeAdapter(chat.completion_create_params.CompletionCreateParamsStreaming),
    "openai-responses": TypeAdapter(responses.response_create_params.ResponseCreateParamsStreaming),
    "anthropic": TypeAdapter(anthropic_types.message_create_params.MessageCreateParamsStreaming),
}


def check_requests(judge, cases):
    """What we ask of a model is what the parameters of the clients are typed as."""
    for format, adapter in REQUESTS.items():
        for case in cases(format):
            adapter.validate_python(case["wire"])
            judge.counted["requests"] += 1
    for case in cases("gemini"):
        for content in case["wire"]["contents"]:
            gemini.Content.model_validate(content)
        for key, kind in [("systemInstruction", gemini.Content), ("generationConfig", gemini.GenerationConfig),
                          ("toolConfig", gemini.ToolConfig)]:
            if key in case["wire"]:
                kind.model_validate(case["wire"][key])
        for tool in case["wire"].get("tools", []):
            gemini.Tool.model_validate(tool)
        judge.counted["requests"] += 1


def check(wire, cases):
    judge = Judge(wire)
    for step in [check_chat, ask_chat, check_responses, ask_responses, check_messages, ask_messages,
                 check_contents, ask_contents, check_errors, check_models]:
        step(judge)
    check_requests(judge, cases)
    return judge.counted
