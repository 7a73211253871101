import { curl } from "./curl";
import { java } from "./java";
import { node } from "./node";
import type { SnippetInput } from "./order";
import { php } from "./php";
import { python } from "./python";

export type { SnippetInput };

/** The same request in each language. Each sample runs as it is, once it has a key. */
export const SNIPPETS: { id: string; label: string; file: string; write: (input: SnippetInput) => string }[] =
  [
    { id: "curl", label: "curl", file: "Terminal", write: curl },
    { id: "node", label: "Node.js", file: "place-order.mjs", write: node },
    { id: "python", label: "Python", file: "place_order.py", write: python },
    { id: "php", label: "PHP", file: "place-order.php", write: php },
    { id: "java", label: "Java", file: "PlaceOrder.java", write: java },
  ];
