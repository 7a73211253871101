import { Button, Center, Loader, Stack, Text, Title } from "@mantine/core";
import { useEffect, useState } from "react";
import { useRouteError } from "react-router-dom";

const LOOK_AGAIN_MS = 3_000;
const PATIENCE_MS = 3_000;

/** Shown when a page crashes, or when its script cannot be loaded: offline, or after an update of the portal. */
export function PageFailed() {
  const isMissing = isMissingScript(useRouteError());
  const connection = useConnection(isMissing);
  if (isMissing && connection !== "there") {
    return (
      <Frame title={connection === "gone" ? "No connection" : "Loading the page"}>
        <Text c="dimmed" role="status">
          {connection === "gone" && "This page is not cached and cannot be loaded offline. "}
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

type Connection = "unknown" | "gone" | "there";

/**
 * Whether the portal is reachable. Reloads the page once it is reachable again, because browsers cache a failed
 * `import()`. If it was reachable from the start, a reload would not help.
 */
function useConnection(isWanted: boolean): Connection {
  const [connection, setConnection] = useState<Connection>(navigator.onLine ? "unknown" : "gone");
  useEffect(() => {
    if (!isWanted || connection === "there") return;
    let isCurrent = true;
    const look = async () => {
      const isThere = await answers();
      if (!isCurrent) return;
      if (isThere && connection === "gone") window.location.reload();
      else setConnection(isThere ? "there" : "gone");
    };
    if (connection === "unknown") void look();
    const timer = window.setInterval(look, LOOK_AGAIN_MS);
    window.addEventListener("online", look);
    return () => {
      isCurrent = false;
      window.clearInterval(timer);
      window.removeEventListener("online", look);
    };
  }, [isWanted, connection]);
  return connection;
}

async function answers(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    return (await fetch("/", { method: "HEAD", cache: "no-store", signal })).ok;
  } catch {
    return false;
  }
}
