"use strict";

// The page reads the documents that the server gives to machines, and knows
// nothing else of the API.

let layers = []; // as the server names them
const documents = {};
const byID = (id) => document.getElementById(id);

// make builds an element: its tag, its properties, what is in it.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

async function load(layer) {
  if (!documents[layer]) {
    const response = await fetch(`/api/${layer}/openapi.json`).catch(() => {
      throw new Error("The server does not answer. Check the connection, then load the page again.");
    });
    if (!response.ok) throw new Error(`the document of ${layer} answers ${response.status}`);
    documents[layer] = await response.json();
  }
  return documents[layer];
}

// operations are all of a document, in its order.
function operations(doc) {
  const list = [];
  for (const [path, item] of Object.entries(doc.paths)) {
    for (const method of ["get", "post"]) {
      if (item[method]) list.push({ path, method, ...item[method] });
    }
  }
  return list;
}

function resolve(doc, schema) {
  if (!schema || !schema.$ref) return schema || {};
  const found = doc.components.schemas[schema.$ref.split("/").pop()];
  return { ...found, ...schema, $ref: undefined, called: schema.$ref.split("/").pop() };
}

// ---- the list ----

function showList(doc, layer, current) {
  const wanted = byID("search").value.trim().toLowerCase();
  const groups = new Map((doc.tags || []).map((tag) => [tag.name, []]));
  const all = operations(doc);
  const open = all.find((o) => o.operationId === current);
  for (const o of all) {
    const words = `${o.path} ${o.summary}`.toLowerCase();
    const first = all.find((one) => one.path === o.path) === o; // the verbs of a path share a line
    if (first && (!wanted || words.includes(wanted))) groups.get(o.tags[0]).push(o);
  }
  const nodes = [];
  for (const [tag, list] of groups) {
    if (!list.length) continue;
    nodes.push(make("h3", {}, tag));
    for (const o of list) {
      const link = make("a", { href: `#${layer}/${o.operationId}` }, verb(o.method), make("span", {}, shortPath(o.path)));
      if (open && o.path === open.path) link.setAttribute("aria-current", "page");
      nodes.push(link);
    }
  }
  byID("list").replaceChildren(...(nodes.length ? nodes : [make("h3", {}, "nothing found")]));
}

const shortPath = (path) => path.replace(/^\/api\/(v\d|streaming)\//, "");
const verb = (method) => make("span", { className: `method ${method}` }, method.toUpperCase());

// ---- an operation ----

function typeOf(doc, given) {
  const schema = resolve(doc, given);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const several = schema.anyOf || (!schema.type && schema.oneOf);
  if (several) return several.map((one) => typeOf(doc, one)).join(" or ");
  const types = [schema.type || "any"].flat();
  const shown = types.map((type) => {
    if (type === "array" && schema.items) return `array of ${typeOf(doc, schema.items)}`;
    if (type === "object" && schema.additionalProperties && schema.additionalProperties !== true) return `map to ${typeOf(doc, schema.additionalProperties)}`;
    return schema.called && type !== "null" ? schema.called : type;
  });
  const limits = ["minimum", "maximum"].filter((name) => name in schema && !schema.called).map((name) => `${name} ${schema[name]}`);
  const more = [schema.called ? "" : schema.format, ...limits].filter(Boolean).join(", ");
  return shown.join(" or ") + (more ? ` (${more})` : "");
}

// expandable are the members of a schema, if it has some, of all its forms.
function expandable(doc, given) {
  const schema = resolve(doc, given);
  if (schema.properties) return [schema];
  const inner = [schema.items, ...(schema.anyOf || []), ...(schema.oneOf || []), ...(schema.prefixItems || [])];
  if (schema.additionalProperties && schema.additionalProperties !== true) inner.push(schema.additionalProperties);
  return inner.filter(Boolean).flatMap((one) => expandable(doc, one));
}

function tree(doc, schema) {
  const root = make("div", { className: "tree" });
  const required = new Set(schema.required || []);
  for (const [name, given] of Object.entries(schema.properties || {})) {
    const note = resolve(doc, given).description;
    const line = [
      make("span", { className: "name" }, name), required.has(name) ? " " : "? ",
      make("span", { className: "quiet" }, typeOf(doc, given), ...prose(note ? ` – ${note}` : "")),
    ];
    const forms = expandable(doc, given);
    if (!forms.length) {
      root.append(make("div", {}, ...line));
      continue;
    }
    const details = make("details", {}, make("summary", {}, ...line));
    // Types that hold themselves are opened when the reader does.
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) details.append(...forms.map((form) => tree(doc, form)));
    });
    root.append(make("div", {}, details));
  }
  return root;
}

function field(doc, parameter) {
  const id = `p-${parameter.name}`;
  const schema = resolve(doc, parameter.schema);
  let input;
  if (schema.enum || schema.type === "boolean") {
    const values = schema.enum || ["true", "false"];
    input = make("select", { id, name: parameter.name }, make("option", { value: "" }, ""), ...values.map((value) => make("option", { value }, value)));
  } else {
    const hint = schema.default !== undefined ? String(schema.default) : "";
    input = make("input", { id, name: parameter.name, placeholder: hint, autocomplete: "off", spellcheck: false });
  }
  input.dataset.list = schema.type === "array" ? "yes" : "";
  const note = [typeOf(doc, parameter.schema)];
  if (schema.type === "array") note.push("several parted by commas");
  if (parameter.description) note.push(parameter.description);
  return [
    make("label", { htmlFor: id, className: parameter.required ? "required" : "" }, parameter.name),
    make("div", {}, input, make("p", { className: "note" }, note.join("; "))),
  ];
}

// verbs are links to the operations of a path.
function verbs(doc, layer, o) {
  return operations(doc).filter((one) => one.path === o.path).map((one) => {
    const link = make("a", { href: `#${layer}/${one.operationId}` }, one.method.toUpperCase());
    if (one.method === o.method) link.setAttribute("aria-current", "page");
    return link;
  });
}

// prose turns `code` of a description into code.
function prose(text) {
  return text.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));
}

function show(doc, layer, o) {
  const query = (o.parameters || []).filter((parameter) => parameter.in === "query");
  const body = o.requestBody && o.requestBody.content["application/json"];
  const form = make("form", { id: "form" });
  const text = body && make("textarea", { id: "body", spellcheck: false, "aria-label": "Body of the request" });
  if (query.length) form.append(make("h3", {}, "Parameters"), make("div", { className: "fields" }, ...query.flatMap((parameter) => field(doc, parameter))));
  const opens = streamOf(o);
  if (body) {
    const members = tree(doc, resolve(doc, body.schema));
    form.append(make("h3", {}, "Body"), text, opens ? make("details", {}, make("summary", {}, "Members"), members) : members); // events are to be seen beside it
  }
  if (opens === "socket") form.append(make("h3", {}, "Operation"), make("textarea", { id: "body", spellcheck: false, "aria-label": "Operation", value: firstOperation(doc) }));
  const send = make("button", { className: "send", type: "submit", id: "send" }, opens ? "Open" : "Send");
  const fill = make("button", { type: "button", id: "fill" }, "Fill in the example");
  const result = make("div", { id: "result", role: "status" });
  form.append(make("div", { className: "actions" }, send, hasExample(query, body) ? fill : null));
  fill.addEventListener("click", () => fillIn(query, body));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    await (opens ? follow(o, opens, result) : ask(o, result)).finally(() => (send.disabled = false));
  });
  byID("main").replaceChildren(
    make("h2", {}, o.summary),
    make("p", { className: "path mono" }, make("span", { className: "verbs" }, ...verbs(doc, layer, o)), o.path),
    o.description ? make("p", {}, ...prose(o.description)) : "",
    form, result, ...answers(doc, o),
  );
  if (text && !body.example) text.value = "{}";
  if (body && body.example) fillIn([], body);
}

// streamOf is how events of an operation come: as a stream, by a socket, or not at all.
function streamOf(o) {
  if (o.responses["101"]) return "socket";
  return o.responses["200"].content["text/event-stream"] ? "events" : "";
}

// firstOperation subscribes to what the example of a stream of events does.
function firstOperation(doc) {
  const like = operations(doc).find((one) => one.requestBody && one.requestBody.content["application/json"].example);
  return JSON.stringify({ operation: "subscribe", id: "1", ...(like && like.requestBody.content["application/json"].example) }, null, 2);
}

const hasExample = (query, body) => query.some((parameter) => "example" in parameter) || (body && body.example);

function fillIn(query, body) {
  for (const parameter of query) {
    if ("example" in parameter) byID(`p-${parameter.name}`).value = [parameter.example].flat().join(",");
  }
  if (body && body.example) byID("body").value = JSON.stringify(body.example, null, 2);
}

function answers(doc, o) {
  const nodes = [];
  const [status, success] = Object.entries(o.responses)[0];
  const good = Object.values(success.content || {})[0] || {};
  nodes.push(make("h3", {}, "Answer"));
  nodes.push(...expandable(doc, good.schema).map((form) => tree(doc, form)));
  if (good.schema && good.schema.contentSchema) nodes.push(...kinds(doc, good.schema.contentSchema));
  if (status === "101") nodes.push(make("p", { className: "quiet" }, "101: a WebSocket"));
  if ("example" in good) {
    nodes.push(make("details", {}, make("summary", {}, "Example"), make("pre", {}, JSON.stringify(good.example, null, 2))));
  }
  const rows = Object.entries(o.responses).filter(([one]) => one !== status);
  nodes.push(make("h3", {}, "Errors"));
  nodes.push(make("table", {}, make("tr", {}, make("th", {}, "Status"), make("th", {}, "Text")),
    ...rows.map(([status, response]) => make("tr", {}, make("td", {}, status), make("td", {}, ...response.description.split("; ").map((text) => make("div", {}, text)))))));
  return nodes;
}

// kinds are the forms of an event, each to be opened.
function kinds(doc, schema) {
  return (resolve(doc, schema).anyOf || []).map((one) => {
    const form = resolve(doc, one);
    return make("details", {}, make("summary", { className: "mono" }, form.called), tree(doc, form));
  });
}

// ---- trying out ----

function address(o) {
  const url = new URL(o.path, location.origin);
  for (const input of document.querySelectorAll("#form .fields input, #form .fields select")) {
    if (input.value === "") continue;
    const values = input.dataset.list ? input.value.split(",").map((value) => value.trim()) : [input.value];
    for (const value of values) url.searchParams.append(input.name, value);
  }
  return url;
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(o, url, body) {
  const parts = ["curl"];
  if (byID("key").value) parts.push("-H", quoted("X-API-Key: <key>"));
  if (body !== undefined) parts.push("-H", quoted("Content-Type: application/json"), "-d", quoted(body));
  return [...parts, quoted(url.href)].join(" ");
}

const mostShown = 200000; // characters

// pretty lays JSON out in lines and leaves its numbers as they are written: floats are not
// exact. What is no JSON comes back unchanged.
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text, (_, value, { source }) => (typeof value === "number" ? JSON.rawJSON(source) : value)), null, 2);
  } catch {
    return text;
  }
}

async function ask(o, result) {
  const url = address(o);
  const body = o.method === "post" ? byID("body").value : undefined;
  const headers = {};
  if (byID("key").value) headers["X-API-Key"] = byID("key").value;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const command = make("pre", {}, curl(o, url, body));
  const began = performance.now();
  try {
    const response = await fetch(url, { method: o.method.toUpperCase(), headers, body });
    let text = await response.text();
    const took = Math.round(performance.now() - began);
    const size = new Blob([text]).size;
    text = pretty(text);
    if (text.length > mostShown) text = `${text.slice(0, mostShown)}…`;
    const warning = response.headers.get("Warning");
    result.replaceChildren(
      command,
      make("p", {}, make("span", { className: `status ${response.ok ? "good" : "bad"}`, id: "status" }, String(response.status)), ` in ${took} ms, ${size} bytes`),
      warning ? make("p", { className: "quiet" }, warning) : "",
      make("pre", { id: "answer" }, text),
    );
  } catch (error) {
    result.replaceChildren(command, make("p", { className: "status bad", id: "status" }, `no answer: ${error.message}`));
  }
}

// ---- streams ----

let leave = () => {}; // ends the stream that is open

const keptEvents = 100;

// follow opens a stream and shows its events, the newest first, until it ends.
async function follow(o, how, result) {
  leave();
  const status = make("span", { className: "status", id: "status" }, "opening");
  const count = make("span", { id: "count" }, "0");
  const events = make("div", { id: "events" });
  const close = make("button", { type: "button", id: "close" }, "Close");
  let seen = 0;
  const say = (text, good) => {
    status.textContent = text;
    status.className = `status ${good ? "good" : "bad"}`;
  };
  const add = (text) => {
    count.textContent = String(++seen);
    let event = {};
    try {
      event = JSON.parse(text);
    } catch {} // shown as it is
    const name = event.type || event.status || (event.error ? "error" : "text");
    const body = make("pre", {});
    const details = make("details", { className: "event" }, make("summary", {}, make("b", {}, name), ` ${event.position || ""} `, make("span", { className: "quiet" }, event.finality || event.error || "")), body);
    details.addEventListener("toggle", () => (body.textContent = details.open ? pretty(text).slice(0, mostShown) : ""));
    events.prepend(details);
    while (events.childElementCount > keptEvents) events.lastChild.remove();
  };
  const parts = [make("p", {}, status, " ", count, " events ", close), events];
  const text = byID("body").value;
  const ended = new AbortController();
  leave = () => ended.abort();
  close.addEventListener("click", leave);
  addEventListener("hashchange", leave, { signal: ended.signal });
  if (how === "events") {
    result.replaceChildren(make("pre", {}, `${curl(o, address(o), text)} -N`), ...parts);
    await readEvents(o, text, ended.signal, say, add);
  } else {
    const more = make("button", { type: "button", id: "more" }, "Send the operation");
    close.before(more, " ");
    result.replaceChildren(...parts);
    await readSocket(o, more, ended.signal, say, add);
  }
  close.remove();
}

async function readEvents(o, body, signal, say, add) {
  try {
    const headers = { "Content-Type": "application/json" };
    if (byID("key").value) headers["X-API-Key"] = byID("key").value;
    const response = await fetch(o.path, { method: "POST", headers, body, signal });
    say(String(response.status), response.ok);
    if (!response.ok) return add(await response.text());
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { value, done } = await reader.read();
      if (done) break;
      const frames = (rest + value).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) {
        const data = frame.split("\n").find((line) => line.startsWith("data: "));
        if (data) add(data.slice(6));
      }
    }
    say("ended", false);
  } catch (error) {
    say(signal.aborted ? "closed" : `no answer: ${error.message}`, signal.aborted);
  }
}

function readSocket(o, more, signal, say, add) {
  const url = new URL(o.path, location.origin.replace(/^http/, "ws"));
  if (byID("key").value) url.searchParams.set("api_key", byID("key").value);
  const socket = new WebSocket(url);
  const send = () => socket.send(byID("body").value);
  more.addEventListener("click", send);
  signal.addEventListener("abort", () => socket.close());
  return new Promise((ends) => {
    socket.addEventListener("open", () => {
      say("101", true);
      send();
    });
    socket.addEventListener("message", (message) => add(message.data));
    socket.addEventListener("close", (end) => {
      say(signal.aborted ? "closed" : `ended: ${end.code} ${end.reason}`, signal.aborted);
      more.remove();
      ends();
    });
  });
}

// ---- where the reader is ----

// go shows what the address names. After a choice the focus goes with it: the link that had
// it is made anew.
async function go(chosen) {
  const hash = location.hash;
  const [layer = layers[0], id] = hash.slice(1).split("/");
  const known = layers.includes(layer) ? layer : layers[0];
  byID("layers").replaceChildren(...layers.map((name) => {
    const link = make("a", { href: `#${name}` }, name);
    if (name === known) link.setAttribute("aria-current", "page");
    return link;
  }));
  try {
    const doc = await load(known);
    if (location.hash !== hash) return; // something else was chosen meanwhile
    showList(doc, known, id);
    const o = operations(doc).find((one) => one.operationId === id);
    if (o) show(doc, known, o);
    else intro(doc, known);
    scrollTo(0, 0);
    if (chosen) byID("main").focus({ preventScroll: true });
  } catch (error) {
    if (location.hash === hash) byID("main").replaceChildren(make("p", { className: "status bad" }, error.message));
  }
}

function intro(doc, layer) {
  byID("main").replaceChildren(
    make("h2", {}, doc.info.title),
    make("p", { className: "quiet" }, `version ${doc.info.version}, ${operations(doc).length} operations, `, make("a", { href: `/api/${layer}/openapi.json` }, "openapi.json")),
    make("p", {}, ...prose(doc.info.description)),
    make("p", {}, "Without an API key one request a second is answered, unless this server is set up otherwise. A key goes into the header X-API-Key or into the parameter api_key; the field above sends it with the requests of this page."),
  );
}

addEventListener("hashchange", go);
addEventListener("DOMContentLoaded", () => {
  layers = byID("layers").dataset.names.split(" ");
  byID("key").value = sessionStorage.getItem("key") || "";
  byID("key").addEventListener("input", () => sessionStorage.setItem("key", byID("key").value));
  byID("search").addEventListener("input", () => {
    const [layer = layers[0], id] = location.hash.slice(1).split("/");
    const known = layers.includes(layer) ? layer : layers[0];
    if (documents[known]) showList(documents[known], known, id);
  });
  go();
});
