import { Anchor, Button, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { downloadExport, EXPORT_POLL_MS, type Export, isEnded, readExport } from "../api/exports";
import { asFailure } from "../api/failure";
import type { AccountScope } from "../api/recent-authentication";
import { failureOf, progressOf } from "../format/export-labels";

/** A file that takes longer is not saved by itself: the user may be doing something else. */
const PATIENCE_MS = 15_000;
/** The following ends after so long without an answer. */
const SILENCE_MAX_MS = 120_000;

/** Tells the user about the file, and saves it as soon as it is complete. Goes on when another page is opened. */
export async function followExport(scope: AccountScope, begun: Export): Promise<void> {
  const id = begun.id;
  const since = Date.now();
  const shown = { id, title: "Preparing the file", loading: true, autoClose: false } as const;
  notifications.show({ ...shown, message: <Waiting export={begun} scope={scope} /> });
  try {
    let found = begun;
    while (!isEnded(found)) {
      found = await polled(scope, id);
      notifications.update({ ...shown, message: <Waiting export={found} scope={scope} /> });
    }
    if (found.failure) return fail(id, failureOf(found.failure));
    if (isLate(since)) return offer(scope, id);
    await downloadExport(scope, id);
    notifications.update({
      id,
      loading: false,
      autoClose: 8_000,
      title: "The file is saved",
      message: <Kept scope={scope} />,
    });
  } catch (error) {
    fail(id, asFailure(error).message);
  }
}

/** Goes on when a read fails in passing: the file is written meanwhile. */
async function polled(scope: AccountScope, id: string): Promise<Export> {
  const since = Date.now();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, EXPORT_POLL_MS));
    try {
      return await readExport(scope, id);
    } catch (error) {
      const { status } = asFailure(error);
      const isPassing = status === 0 || status >= 500;
      if (!isPassing || Date.now() - since > SILENCE_MAX_MS) throw error;
    }
  }
}

function isLate(since: number): boolean {
  return Date.now() - since > PATIENCE_MS;
}

function fail(id: string, message: string) {
  notifications.hide(id);
  notifications.show({ color: "red", title: "No file", message });
}

function Waiting({ export: shown, scope }: { export: Export; scope: AccountScope }) {
  return (
    <>
      {progressOf(shown)}
      <Text size="xs" c="dimmed">
        You can go on working. The file will be under <ExportsLink scope={scope} />.
      </Text>
    </>
  );
}

function Kept({ scope }: { scope: AccountScope }) {
  return (
    <>
      It is kept for 24 hours under <ExportsLink scope={scope} />.
    </>
  );
}

/** Notifications are outside of the router. */
function ExportsLink({ scope }: { scope: AccountScope }) {
  return (
    <Anchor href={scope === "portal" ? "/exports" : "/operator/exports"} inherit>
      Exports
    </Anchor>
  );
}

function offer(scope: AccountScope, id: string) {
  const save = () => {
    notifications.hide(id);
    downloadExport(scope, id).catch((error) => fail(id, asFailure(error).message));
  };
  notifications.update({
    id,
    loading: false,
    autoClose: false,
    title: "The file is ready",
    message: (
      <Stack gap="xs" align="flex-start">
        <Kept scope={scope} />
        <Button size="xs" onClick={save}>
          Download
        </Button>
      </Stack>
    ),
  });
}
