import { installNode } from "./node";
import type { SnippetInput } from "./order";
import { installPython } from "./python";
import { nodeProgram, setVariable, setVariableTo, venv } from "./shell";

/** The address of the receivers of the guides. */
const FORWARD_TO = "http://127.0.0.1:3000/api/delivery/webhook";

interface Program {
  id: string;
  label: string;
  install: (input: SnippetInput) => string | null;
  /** Never a program of this name from a registry. */
  command: (input: SnippetInput) => string;
}

/** The command line that brings test webhooks to this machine, as a Node.js and as a Python program. */
export const PROGRAMS: Program[] = [
  {
    id: "node",
    label: "Node.js",
    install: installNode,
    command: ({ shell }) => `${nodeProgram(shell, "npx")} --no-install waybill`,
  },
  {
    id: "python",
    label: "Python",
    install: installPython,
    command: ({ shell }) => `${venv(shell, "python")} -m waybill`,
  },
];

export function listen(program: Program, input: SnippetInput): string {
  const { shell, apiBaseUrl, apiKey } = input;
  const lines = [
    program.install(input),
    setVariable(shell, "WAYBILL_BASE_URL", apiBaseUrl),
    setVariable(shell, "WAYBILL_API_KEY", apiKey),
    `${program.command(input)} listen --forward-to ${FORWARD_TO}`,
  ];
  return lines.filter((line) => line !== null).join("\n");
}

/** For the receiver's terminal, in the same folder. */
export function secretOfListen(program: Program, input: SnippetInput): string {
  return setVariableTo(input.shell, "WEBHOOK_SECRET", `${program.command(input)} listen --print-secret`);
}
