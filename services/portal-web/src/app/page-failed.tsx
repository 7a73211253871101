import { Button, Center, Loader, Stack, Text, Title } from "@mantine/core";
import { useEffect, useState } from "react";
import { useRouteError } from "react-router-dom";

const LOOK_AGAIN_MS = 3_000;
const PATIENCE_MS = 3_000;

/** When a page breaks, or its script does not come: without a connection, or since a new version was put in place. */
export function PageFailed() {
  const isMissing = isMissingScript(useRouteError());
  const connection = useConnection(isMissing);
  if (isMissing && connection !== "there") {
    return (
      <Frame title={connection === "gone" ? "There is no connection" : "Loading the page"}>
        <Text c="dimmed" role="status">
          {connection === "gone" && "This page was not opened before, and cannot be loaded now. "}
          It loads by itself as soon as the portal can be reached.
        </Text>
        <Loader size="sm" mt="sm" aria-hidden />
      </Frame>
    );
  }
  return (
    <Frame title="This page did not load">
      <Text c="dimmed">
        {isMissing && "The portal may have been updated meanwhile. "}
        Nothing that you did before is lost. Reload the page to go on.
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

/** As each browser calls it when `import()` gets no script, or the build's own loader when there are no styles. */
function isMissingScript(error: unknown): boolean {
  return (
    error instanceof Error && /dynamically imported module|module script|preload css/i.test(error.message)
  );
}

type Connection = "unknown" | "gone" | "there";

/**
 * Whether the portal answers. Once it does after it did not, the page is loaded anew: browsers remember a script that did
 * not come. If it answered from the start, that would not help.
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
