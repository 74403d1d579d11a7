"""Holds a conversation with a Toolgate server through an official SDK, as a user of it would.

talk.py BASE_URL TOKEN ANSWERING CLIENT AGENT,AGENT…      CLIENT: openai, responses, anthropic, gemini

A model behind the server plays a script; this side brings one tool of its own, streams every answer, and a
second connection answers questions over the WebSocket, with another token, because who asks does not answer.
Prints what it saw, one line of JSON for each agent.
"""

import asyncio
import json
import sys
import threading

import anthropic
import openai
import websockets
from google import genai
from google.genai import types as gemini

BASE, TOKEN, ANSWERING, CLIENT, AGENTS = sys.argv[1:6]
ASK = "Do the round, please."
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where."}},
    "required": ["city"],
}
DESCRIPTION = "Tell the weather of a city."
MAX_TURNS = 8


def weather(name, arguments):
    assert name == "get_weather", name
    return f"sunny in {arguments['city']}"


class Person(threading.Thread):
    """Answers questions over the WebSocket: yes to what is called fine, no to the rest."""

    def __init__(self, session):
        super().__init__(daemon=True)
        self.session = session
        self.answers = []
        self.ready = threading.Event()

    def run(self):
        asyncio.run(self.watch())

    async def watch(self):
        url = BASE.replace("http", "ws", 1) + "/ws"
        headers = {"Authorization": f"Bearer {ANSWERING}"}
        async with websockets.connect(url, additional_headers=headers) as socket:
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {}}))
            async for text in socket:
                message = json.loads(text)
                if message.get("id") == 1:
                    assert "result" in message, message
                    self.ready.set()
                elif message.get("method") in ("approval.requested", "permission.requested"):
                    method = message["method"].replace(".requested", "s.resolve")
                    await self.answer(socket, method, message["params"])

    async def answer(self, socket, method, question):
        if question["session"] != self.session:
            return
        fine = "nope" not in json.dumps(question["input"])
        decision = "allow_once" if fine else "deny"
        self.answers.append(decision)
        params = {"id": question["id"], "decision": decision}
        if not fine:
            params["message"] = "not today"
        request = {"jsonrpc": "2.0", "id": len(self.answers) + 1, "method": method, "params": params}
        await socket.send(json.dumps(request))


def talk_openai(agent, session):
    client = openai.OpenAI(base_url=f"{BASE}/v1", api_key=TOKEN, default_headers={"Toolgate-Session": session})
    tool = {"type": "function", "function": {"name": "get_weather", "description": DESCRIPTION, "parameters": WEATHER}}
    messages = [{"role": "user", "content": ASK}]
    text, notes = "", []
    for _ in range(MAX_TURNS):
        pieces = 0
        with client.chat.completions.stream(model=agent, messages=messages, tools=[tool]) as stream:
            for event in stream:
                if event.type == "chunk":
                    notes += getattr(event.chunk, "tool_calls", None) or []
                pieces += event.type == "content.delta"
            final = stream.get_final_completion().choices[0]
        text += final.message.content or ""
        messages.append(final.message.model_dump(exclude_none=True, exclude={"parsed"}))
        if final.finish_reason != "tool_calls":
            return text, notes, pieces
        for call in final.message.tool_calls:
            said = weather(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": said})
    raise AssertionError("it never ended")


def talk_responses(agent, session):
    client = openai.OpenAI(base_url=f"{BASE}/v1", api_key=TOKEN, default_headers={"Toolgate-Session": session})
    tool = {"type": "function", "name": "get_weather", "description": DESCRIPTION, "parameters": WEATHER, "strict": False}
    asked, previous = ASK, None
    text, notes = "", []
    for _ in range(MAX_TURNS):
        pieces = 0
        extra = {"previous_response_id": previous} if previous else {}
        with client.responses.stream(model=agent, input=asked, tools=[tool], **extra) as stream:
            for event in stream:
                pieces += event.type == "response.output_text.delta"
            final = stream.get_final_response()
        notes += getattr(final, "tool_calls", None) or []
        text += final.output_text
        previous = final.id
        calls = [item for item in final.output if item.type == "function_call"]
        if not calls:
            return text, notes, pieces
        asked = [
            {
                "type": "function_call_output",
                "call_id": call.call_id,
                "output": weather(call.name, json.loads(call.arguments)),
            }
            for call in calls
        ]
    raise AssertionError("it never ended")


def talk_anthropic(agent, session):
    client = anthropic.Anthropic(base_url=BASE, api_key=TOKEN, default_headers={"Toolgate-Session": session})
    tool = {"name": "get_weather", "description": DESCRIPTION, "input_schema": WEATHER}
    messages = [{"role": "user", "content": ASK}]
    text, notes = "", []
    for _ in range(MAX_TURNS):
        pieces = 0
        with client.messages.stream(model=agent, max_tokens=4096, messages=messages, tools=[tool]) as stream:
            for event in stream:
                pieces += event.type == "text"
                if event.type in ("message_stop", "message_delta"):
                    notes += getattr(event, "tool_calls", None) or []
            final = stream.get_final_message()
        text += "".join(block.text for block in final.content if block.type == "text")
        messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in final.content]})
        if final.stop_reason != "tool_use":
            return text, notes, pieces
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": weather(block.name, block.input)}
            for block in final.content
            if block.type == "tool_use"
        ]
        messages.append({"role": "user", "content": results})
    raise AssertionError("it never ended")


def talk_gemini(agent, session):
    options = gemini.HttpOptions(base_url=BASE, headers={"Toolgate-Session": session})
    client = genai.Client(api_key=TOKEN, http_options=options)
    declared = gemini.FunctionDeclaration(name="get_weather", description=DESCRIPTION, parameters_json_schema=WEATHER)
    config = gemini.GenerateContentConfig(
        tools=[gemini.Tool(function_declarations=[declared])],
        automatic_function_calling=gemini.AutomaticFunctionCallingConfig(disable=True),
    )
    contents = [gemini.Content(role="user", parts=[gemini.Part(text=ASK)])]
    text, notes = "", []
    for _ in range(MAX_TURNS):
        pieces, calls, parts = 0, [], []
        for chunk in client.models.generate_content_stream(model=agent, contents=contents, config=config):
            for part in chunk.candidates[0].content.parts if chunk.candidates and chunk.candidates[0].content else []:
                parts.append(part)
                if part.text:
                    pieces += 1
                    text += part.text
                if part.function_call:
                    calls.append(part.function_call)
        contents.append(gemini.Content(role="model", parts=parts))
        if not calls:
            return text, notes, pieces
        answers = [
            gemini.Part(
                function_response=gemini.FunctionResponse(
                    id=call.id, name=call.name, response={"output": weather(call.name, call.args)}
                )
            )
            for call in calls
        ]
        contents.append(gemini.Content(role="user", parts=answers))
    raise AssertionError("it never ended")


def main():
    talks = {"openai": talk_openai, "responses": talk_responses, "anthropic": talk_anthropic, "gemini": talk_gemini}
    for agent in AGENTS.split(","):
        session = f"talk-{CLIENT}-{agent}"
        person = Person(session)
        person.start()
        assert person.ready.wait(20), "the WebSocket did not open"
        text, notes, pieces = talks[CLIENT](agent, session)
        notes = [note if isinstance(note, dict) else note.model_dump() for note in notes]
        seen = {"text": text, "notes": [(note["tool"], note["status"]) for note in notes], "pieces": pieces}
        print(json.dumps({**seen, "answers": person.answers}), flush=True)


main()
