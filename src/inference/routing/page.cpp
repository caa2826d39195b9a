#include "inference/routing/information.h"

namespace mpitron::inference {
namespace {

/// The page of GET /: one file without foreign scripts. It asks the server for its model's name and
/// whether that has a chat template, and the user for an API key where one is wanted; it shows an
/// answer while its events come, until Stop is pressed.
constexpr const char* kPage = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>mpitron</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>
body{font:16px/1.4 sans-serif;max-width:50em;margin:2em auto;padding:0 1em}
textarea{width:100%;box-sizing:border-box;font:inherit}
label{margin-right:1em}input[type=number]{width:5em}
#out{white-space:pre-wrap;border:1px solid #ccc;padding:.5em;min-height:6em}
#out b{font-weight:normal;color:#666}#out.wrong{border-color:#b00;color:#b00}
</style></head><body>
<h1>mpitron <small id="model"></small></h1>
<textarea id="prompt" rows="6" aria-label="Prompt" placeholder="A text to go on with"></textarea>
<p><label>Tokens <input id="tokens" type="number" value="32" min="1"></label>
<label>Temperature <input id="heat" type="number" value="0.8" min="0" max="2" step="0.1"></label>
<label id="asks" hidden><input id="chat" type="checkbox" checked> as a chat</label>
<label id="locked" hidden>API key <input id="key" type="password"></label>
<button id="go">Generate</button> <button id="stop" disabled>Stop</button></p>
<div id="out" aria-live="polite"></div>
<script>
const $ = id => document.getElementById(id);
const headers = () => $("key").value ? {Authorization: "Bearer " + $("key").value} : {};
let running = null;
const show = (text, wrong) => {
  $("out").textContent = text;
  $("out").className = wrong ? "wrong" : "";
};

async function look() {
  const models = await fetch("/v1/models", {headers: headers()});
  $("locked").hidden = models.status != 401 && !$("key").value;
  if (!models.ok) return;
  $("model").textContent = (await models.json()).data.map(m => m.id).join(", ");
  const info = await (await fetch("/tokenizer_info", {headers: headers()})).json();
  $("asks").hidden = !info.chat_template;
}

function request() {
  const all = {max_tokens: +$("tokens").value, temperature: +$("heat").value, stream: true};
  return $("asks").hidden || !$("chat").checked
    ? ["/v1/completions", {...all, prompt: $("prompt").value}]
    : ["/v1/chat/completions", {...all, messages: [{role: "user", content: $("prompt").value}]}];
}

function take(event) {
  if (event.error) throw Error(event.error.message);
  for (const c of event.choices) $("out").append(c.text ?? c.delta.content ?? "");
}

async function generate() {
  const [target, body] = request();
  show("");
  const prompt = document.createElement("b");
  prompt.textContent = $("prompt").value + (body.messages ? "\n" : "");
  $("out").append(prompt);
  const reply = await fetch(target, {method: "POST", body: JSON.stringify(body), headers: headers(),
                                     signal: running.signal});
  if (reply.status == 401) $("locked").hidden = false;
  if (!reply.ok) throw Error((await reply.json()).error.message);
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part; !(part = await reader.read()).done;) {
    const lines = (rest + part.value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: {")) take(JSON.parse(line.slice(6)));
  }
}

$("go").onclick = async () => {
  running = new AbortController();
  $("go").disabled = true;
  $("stop").disabled = false;
  try {
    await generate();
  } catch (error) {
    if (error.name != "AbortError") show(error.message, true);
  }
  $("go").disabled = false;
  $("stop").disabled = true;
};
$("stop").onclick = () => running.abort();
$("key").onchange = look;
$("prompt").onkeydown = e => { if (e.key == "Enter" && e.ctrlKey) $("go").click(); };
look();
</script></body></html>
)html";

}  // namespace

HttpReply show_page(const ServedModel& /*model*/, const HttpRequest& /*request*/) {
  return {200, kPage, "text/html; charset=utf-8"};
}

}  // namespace mpitron::inference
