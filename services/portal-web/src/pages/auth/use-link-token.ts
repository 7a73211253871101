import { useEffect, useState } from "react";

/**
 * The token of a link such as `/invitation#token=…`, or an empty text. It is taken out of the address at once, so that it
 * stays neither in the history nor in a bookmark. A link that is pasted where its page is open already counts as well:
 * browsers do not load anything for it.
 */
export function useLinkToken(): string {
  const [token, setToken] = useState(tokenOfAddress);
  useEffect(() => {
    function take() {
      if (window.location.hash === "") return;
      setToken(tokenOfAddress());
      window.history.replaceState(window.history.state, "", window.location.pathname);
    }
    take();
    window.addEventListener("hashchange", take);
    return () => window.removeEventListener("hashchange", take);
  }, []);
  return token;
}

function tokenOfAddress(): string {
  return new URLSearchParams(window.location.hash.slice(1)).get("token") ?? "";
}
