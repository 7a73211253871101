import { useEffect, useState } from "react";

/**
 * The token of a link such as `/invitation#token=…`, or an empty string. It is removed from the address, so that neither
 * the history nor a bookmark keeps it. A link that is pasted into its own open page works too: browsers do not reload it.
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
