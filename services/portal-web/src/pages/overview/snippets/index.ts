import { curl } from "./curl";
import { java } from "./java";
import { installNode, node } from "./node";
import type { SnippetInput } from "./order";
import { php } from "./php";
import { installPython, python } from "./python";

export { listen, PROGRAMS, secretOfListen } from "./listen";
export { SHELLS, type Shell, USUAL_SHELL } from "./shell";
export type { SnippetInput };

interface Snippet {
  id: string;
  label: string;
  file: string;
  write: (input: SnippetInput) => string;
  /** The commands that install the package; null if this installation does not serve it. */
  install?: (input: SnippetInput) => string | null;
}

/** The same request in each language. Each sample runs as it is, once it has a key. */
export const SNIPPETS: Snippet[] = [
  { id: "curl", label: "curl", file: "Terminal", write: curl },
  { id: "node", label: "TypeScript", file: "place-order.mjs", write: node, install: installNode },
  { id: "python", label: "Python", file: "place_order.py", write: python, install: installPython },
  { id: "php", label: "PHP", file: "place-order.php", write: php },
  { id: "java", label: "Java", file: "PlaceOrder.java", write: java },
];
