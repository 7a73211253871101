import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./app/global.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { configQuery } from "./api/config";
import { makeQueryClient } from "./api/query-client";
import { sessionQuery } from "./api/session";
import { Providers } from "./app/providers";

const client = makeQueryClient();

/** After this time, the page is rendered without the data. */
const FIRST_PAINT_MS = 3_000;

/** Loads the brand and the session before the first paint, so that the layout does not shift. */
async function start() {
  const root = document.getElementById("root");
  if (!root) throw new Error("index.html has no #root");
  // Pages of the operator's console need no user's session.
  const isConsole = window.location.pathname.startsWith("/operator");
  const session = isConsole ? undefined : client.prefetchQuery(sessionQuery);
  const known = Promise.all([client.prefetchQuery(configQuery), session]);
  await Promise.race([known, new Promise((go) => setTimeout(go, FIRST_PAINT_MS))]);
  createRoot(root).render(
    <StrictMode>
      <Providers client={client} />
    </StrictMode>,
  );
}

void start();
