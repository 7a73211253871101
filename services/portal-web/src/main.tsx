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

/** So long is nothing painted; after that, that it takes long is better than nothing. */
const FIRST_PAINT_MS = 3_000;

/** The brand's colours and who is logged in, before anything is painted: nothing jumps afterwards. */
async function start() {
  const root = document.getElementById("root");
  if (!root) throw new Error("index.html has no #root");
  const known = Promise.all([client.prefetchQuery(configQuery), client.prefetchQuery(sessionQuery)]);
  await Promise.race([known, new Promise((go) => setTimeout(go, FIRST_PAINT_MS))]);
  createRoot(root).render(
    <StrictMode>
      <Providers client={client} />
    </StrictMode>,
  );
}

void start();
