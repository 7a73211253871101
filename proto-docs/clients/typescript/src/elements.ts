/** Takes the elements of an answer's `data` apart without parsing them, because signatures cover bytes. */

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/** The text of each element of the array `data`, exactly as it was sent. The text must be a JSON object. */
export function elementsOf(text: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let name = "";
  let start: number | undefined;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    const ends = depth === 2 && (token === "," || token === "]");
    if (ends && start !== undefined) {
      const element = text.slice(start, index).trim();
      if (element !== "") elements.push(element);
      start = token === "," ? index + 1 : undefined;
    }
    if (depth === 1 && token.startsWith('"')) name = token;
    if (depth === 1 && token === "[" && name === '"data"') start = index + 1;
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
  }
  return elements;
}
