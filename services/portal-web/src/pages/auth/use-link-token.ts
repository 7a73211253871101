import { useEffect, useState } from "react";

/**
 * The token of a link such as `/invitation#token=…`, or an empty text. It is taken out of the address at once, so that it
 * stays neither in the history nor in a bookmark.
 */
export function useLinkToken(): string {
  const [token] = useState(() => new URLSearchParams(window.location.hash.slice(1)).get("token") ?? "");
  useEffect(() => {
    if (window.location.hash !== "") {
      window.history.replaceState(window.history.state, "", window.location.pathname);
    }
  }, []);
  return token;
}
