import { Button, Center, Loader, Stack, Text, Title } from "@mantine/core";
import { useEffect, useState } from "react";
import { useRouteError } from "react-router-dom";

const CHECK_MS = 3_000;
const TIMEOUT_MS = 3_000;
/** A page that was reloaded within this time is not reloaded by itself again. */
const RELOADED_MS = 60_000;
const RELOADED_AT = "page-reloaded-at";

/** Shown when a page crashes, or when its script cannot be loaded: offline, or after an update of the portal. */
export function PageFailed() {
  const isMissing = isMissingScript(useRouteError());
  const connection = useConnection(isMissing);
  if (isMissing && connection !== "online") {
    return (
      <Frame title={connection === "offline" ? "No connection" : "Loading the page"}>
        <Text c="dimmed" role="status">
          {connection === "offline" && "This page is not cached and cannot be loaded offline. "}
          It loads automatically when the portal is reachable.
        </Text>
        <Loader size="sm" mt="sm" aria-hidden />
      </Frame>
    );
  }
  return (
    <Frame title="This page could not be loaded">
      <Text c="dimmed">
        {isMissing && "The portal may have been updated. "}
        No saved changes are lost. Reload the page to continue.
      </Text>
      <Button mt="sm" onClick={() => window.location.reload()}>
        Reload
      </Button>
    </Frame>
  );
}

function Frame({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Center mih="60vh" p="md">
      <Stack align="center" gap="xs" maw="26rem" ta="center">
        <Title order={1}>{title}</Title>
        {children}
      </Stack>
    </Center>
  );
}

/** Matches each browser's error for a failed `import()`, and the build's error for missing styles. */
function isMissingScript(error: unknown): boolean {
  return (
    error instanceof Error && /dynamically imported module|module script|preload css/i.test(error.message)
  );
}

type Connection = "unknown" | "offline" | "online";

/**
 * Whether the portal is reachable. Reloads the page once it is, because browsers cache a failed `import()`, and after an
 * update of the portal the scripts have other names. If a reload has just not helped, the person decides.
 */
function useConnection(isWanted: boolean): Connection {
  const [connection, setConnection] = useState<Connection>(navigator.onLine ? "unknown" : "offline");
  useEffect(() => {
    if (!isWanted || connection === "online") return;
    let isCurrent = true;
    const check = async () => {
      const isOnline = await isReachable();
      if (!isCurrent) return;
      if (isOnline && (connection === "offline" || !wasJustReloaded())) window.location.reload();
      else setConnection(isOnline ? "online" : "offline");
    };
    if (connection === "unknown") void check();
    const timer = window.setInterval(check, CHECK_MS);
    window.addEventListener("online", check);
    return () => {
      isCurrent = false;
      window.clearInterval(timer);
      window.removeEventListener("online", check);
    };
  }, [isWanted, connection]);
  return connection;
}

/** Notes the time of this call. */
function wasJustReloaded(): boolean {
  const reloadedAt = Number(sessionStorage.getItem(RELOADED_AT));
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  return Date.now() - reloadedAt < RELOADED_MS;
}

async function isReachable(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return (await fetch("/", { method: "HEAD", cache: "no-store", signal })).ok;
  } catch {
    return false;
  }
}
