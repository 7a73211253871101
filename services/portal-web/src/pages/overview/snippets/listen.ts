import type { SnippetInput } from "./order";
import { installPython } from "./python";

/** The command line that brings test webhooks to this machine, as a Node.js and as a Python program. */
export const LISTEN: { id: string; label: string; write: (input: SnippetInput) => string }[] = [
  { id: "node", label: "Node.js", write: listenNode },
  { id: "python", label: "Python", write: listenPython },
];

const FORWARD_TO = "http://127.0.0.1:3000/";

function listenNode(input: SnippetInput): string {
  return `${variables(input)}
npx --yes --package=${input.packages.npm} \\
  waybill listen --forward-to ${FORWARD_TO}`;
}

function listenPython(input: SnippetInput): string {
  return `${installPython(input)}
${variables(input)}
venv/bin/python -m waybill listen --forward-to ${FORWARD_TO}`;
}

function variables({ apiBaseUrl, apiKey }: SnippetInput): string {
  return `export WAYBILL_BASE_URL='${apiBaseUrl}'
export WAYBILL_API_KEY='${apiKey}'`;
}
