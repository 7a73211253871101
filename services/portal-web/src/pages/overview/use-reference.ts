import { useState } from "react";

const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const LENGTH = 6;

/** A reference for the sample order. It stays the same until the user changes it, so that a repeated request is a retry. */
export function useReference() {
  const [reference, setReference] = useState(newReference);
  return { reference, next: () => setReference(newReference()) };
}

function newReference(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH));
  return `quick-start-${Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("")}`;
}
