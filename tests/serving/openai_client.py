#!/usr/bin/env python3
"""What programs written for OpenAI's service expect, asked by its own client library. usage: openai_client.py http://HOST:PORT"""
import json
import sys
import threading
import urllib.request

import openai
from prometheus_client.parser import text_string_to_metric_families

PROMPT = "The 7. ship sails from"
MODEL = "model"  # the name under which the server lists what it has loaded


def completions(client):
    """A completion has a text, a reason to end and its tokens' counts; greedy ones repeat."""
    ask = dict(model=MODEL, prompt=PROMPT, max_tokens=8, temperature=0)
    first, second = (client.completions.create(**ask) for _ in range(2))
    assert first.choices[0].text == second.choices[0].text != "", first
    assert first.choices[0].finish_reason == "length"
    assert first.usage.completion_tokens == 8
    assert first.usage.total_tokens == first.usage.prompt_tokens + 8


def seeds(client):
    """The same seed gives the same text, whoever asks beside; `n` gives as many."""
    ask = dict(model=MODEL, prompt=PROMPT, max_tokens=12, temperature=1.0, seed=5)
    alone = client.completions.create(**ask).choices[0].text
    found = [None] * 6

    def work(i):
        found[i] = client.completions.create(**ask).choices[0].text

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {alone}, (alone, found)
    assert len(client.completions.create(**ask, n=3).choices) == 3


def streams(client):
    """The pieces of a stream are the text without one, and the last tells usage where it is wanted."""
    ask = dict(model=MODEL, prompt=PROMPT, max_tokens=10, temperature=0)
    whole = client.completions.create(**ask).choices[0].text
    pieces, usage = "", None
    for chunk in client.completions.create(**ask, stream=True, stream_options={"include_usage": True}):
        pieces += chunk.choices[0].text if chunk.choices else ""
        usage = chunk.usage or usage
    assert pieces == whole, (pieces, whole)
    assert usage is not None and usage.completion_tokens == 10, usage


def log_probs(client):
    """Each token has a log-probability; with echo those of the prompt come first, and the first token has none."""
    reply = client.completions.create(model=MODEL, prompt=PROMPT, max_tokens=4, temperature=0, logprobs=2)
    told = reply.choices[0].logprobs
    assert len(told.tokens) == len(told.token_logprobs) == 4
    assert all(value <= 0 for value in told.token_logprobs)
    assert all(max(top.values()) == value for top, value in zip(told.top_logprobs, told.token_logprobs))
    reply = client.completions.create(model=MODEL, prompt=PROMPT, max_tokens=4, temperature=0, logprobs=0, echo=True)
    told = reply.choices[0].logprobs
    assert reply.choices[0].text.startswith(PROMPT)
    assert told.token_logprobs[0] is None and len(told.tokens) == reply.usage.total_tokens


def stops(client):
    """A stop text ends the answer before itself."""
    ask = dict(model=MODEL, prompt=PROMPT, max_tokens=20, temperature=0)
    text = client.completions.create(**ask).choices[0].text
    stop = text.strip()[3:6]
    cut = client.completions.create(**ask, stop=[stop]).choices[0]
    assert cut.finish_reason == "stop" and stop not in cut.text and text.startswith(cut.text), (text, stop, cut)


def models(client):
    """The model is listed; another name is refused with this one."""
    listed = client.models.list().data
    assert [model.id for model in listed] == [MODEL], listed
    try:
        client.completions.create(model="another", prompt=PROMPT, max_tokens=1)
    except openai.NotFoundError as error:
        assert MODEL in str(error), error
    else:
        raise AssertionError("a model that is not there answered")


def mistakes(client):
    """What is wrong is told as the library's own errors, with the field's name."""
    for fields, word in (({"max_tokens": -1}, "max_tokens"), ({"temperature": -1}, "temperature"),
                         ({"max_tokens": 10_000}, "context"), ({"prompt": {}}, "prompt"), ({"n": 0}, "n must"),
                         ({"logprobs": 21}, "logprobs"), ({"suffix": "a"}, "suffix"), ({"stop": ["a"] * 17}, "stop"),
                         ({"logit_bias": {"x": 1}}, "logit_bias"), ({"extra_body": {"guided_grammar": "a"}}, "line 1")):
        try:
            client.completions.create(**{**dict(model=MODEL, prompt=PROMPT), **fields})
        except openai.BadRequestError as error:
            assert word in str(error), (fields, error)
        else:
            raise AssertionError(f"{fields} was answered")


def chats(client):
    """A chat by a template of the request's own, whole and as a stream, with log-probabilities and their bytes."""
    ask = dict(model=MODEL, messages=[{"role": "user", "content": PROMPT}], max_tokens=8, temperature=0,
               extra_body={"chat_template": "{{ messages[0].content }}"})
    whole = client.chat.completions.create(**ask, logprobs=True, top_logprobs=2).choices[0]
    assert whole.message.role == "assistant" and whole.message.content and whole.finish_reason == "length", whole
    spelled = b"".join(bytes(token.bytes) for token in whole.logprobs.content)
    assert spelled.decode("utf-8", "replace") == whole.message.content, (spelled, whole)
    assert all(len(token.top_logprobs) == 2 for token in whole.logprobs.content)
    pieces = [chunk.choices[0].delta for chunk in client.chat.completions.create(**ask, stream=True)]
    assert pieces[0].role == "assistant" and "".join(piece.content or "" for piece in pieces) == whole.message.content
    try:
        client.chat.completions.create(**{**ask, "extra_body": {"chat_template": "{{ raise_exception('not so') }}"}})
    except openai.BadRequestError as error:
        assert "not so" in str(error), error
    else:
        raise AssertionError("a template that fails was answered")


def calls(client):
    """Answers that have to call a function do, with arguments of its schema, whole and as a stream."""
    def function(name, **properties):
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return {"type": "function", "function": {"name": name, "parameters": schema}}

    tools = [function("turn", side={"enum": ["left", "right"]}), function("stop")]
    ask = dict(model=MODEL, messages=[{"role": "user", "content": PROMPT}], max_tokens=120, temperature=0, tools=tools,
               extra_body={"chat_template": "{{ messages[0].content }}"})
    named = {"type": "function", "function": {"name": "turn"}}
    choice = client.chat.completions.create(**ask, tool_choice=named).choices[0]
    assert choice.finish_reason == "tool_calls" and choice.message.content is None, choice
    call = choice.message.tool_calls[0].function
    assert call.name == "turn" and json.loads(call.arguments)["side"] in ("left", "right"), call
    deltas = [chunk.choices[0].delta for chunk in client.chat.completions.create(**ask, tool_choice=named, stream=True)]
    assert [delta.tool_calls[0].function for delta in deltas if delta.tool_calls][0].arguments == call.arguments, deltas
    either = client.chat.completions.create(**ask, tool_choice="required", parallel_tool_calls=False).choices[0].message
    assert len(either.tool_calls) == 1 and either.tool_calls[0].function.name in ("turn", "stop"), either
    named["function"]["name"] = "fly"
    try:
        client.chat.completions.create(**ask, tool_choice=named)
    except openai.BadRequestError as error:
        assert "it has turn, stop" in str(error), error
    else:
        raise AssertionError("a function that nobody offered was called")


def metrics(client):
    """Prometheus' own parser reads /metrics; every histogram ends with all that it counted."""
    with urllib.request.urlopen(str(client.base_url).replace("/v1/", "/metrics")) as page:
        families = {family.name: family for family in text_string_to_metric_families(page.read().decode())}
    for name in ("queue", "first_token", "between_tokens", "request"):
        family = families[f"mpitron_{name}_seconds"]
        values = {sample.name + sample.labels.get("le", ""): sample.value for sample in family.samples}
        assert family.type == "histogram" and values[family.name + "_count"] > 0, family
        assert values[family.name + "_bucket+Inf"] == values[family.name + "_count"], family


def main():
    client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0, timeout=60)
    failed = 0
    for check in (completions, seeds, streams, log_probs, stops, chats, calls, models, mistakes, metrics):
        try:
            check(client)
            print(f"ok      {check.__name__}")
        except (AssertionError, openai.OpenAIError) as error:
            failed += 1
            print(f"FAILED  {check.__name__}: {error!r}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
