import { Anchor, Box, Progress, Stack, Text } from "@mantine/core";
import { Link } from "react-router-dom";
import type { GoLiveItem, Status } from "../../api/types";
import { goLiveHelp } from "../../app/go-live";
import { useHasPage } from "../../app/use-has-page";
import { useIsSuspended } from "../../app/use-is-suspended";
import { Loading } from "../../components/loading";
import { Section } from "../../components/section";
import { Time } from "../../components/time";
import { CheckItem, CheckList } from "./check-item";

/** The conditions for live orders, as the server reports them, each with help. */
export function GoLiveList({ status }: { status: Status | undefined }) {
  const isSuspended = useIsSuspended();
  if (!status) {
    return (
      <Section title="Go-live checklist">
        <Loading what="Loading the checklist" height={340} />
      </Section>
    );
  }
  const { goLive } = status;
  const done = goLive.items.filter((item) => item.done).length;
  const total = goLive.items.length;
  return (
    <Section
      title="Go-live checklist"
      description={
        status.closing
          ? "Your business is being closed, or is closed: live orders are refused."
          : isSuspended
            ? "Your account is suspended: live orders are refused."
            : goLive.unlocked
              ? "Complete: live orders are unlocked."
              : "Complete all items to unlock live orders."
      }
    >
      <Stack gap="md">
        <Box>
          <Progress
            value={(done / total) * 100}
            size="sm"
            color={goLive.unlocked ? "var(--tone-good)" : undefined}
            aria-label={`${done} of ${total} done`}
          />
          <Text size="xs" c="dimmed" mt={6} className="numbers">
            {done} of {total} done
          </Text>
        </Box>
        <CheckList label="Go-live checklist">
          {goLive.items.map((item) => (
            <CheckItem key={item.code} label={item.label} done={item.done}>
              {item.done ? <DoneAt at={item.at} /> : !status.closing && <HowTo item={item} />}
            </CheckItem>
          ))}
        </CheckList>
      </Stack>
    </Section>
  );
}

export function DoneAt({ at }: { at: string | null | undefined }) {
  return at ? (
    <>
      Done <Time at={at} relative />
    </>
  ) : null;
}

export function HowTo({ item }: { item: Pick<GoLiveItem, "code"> }) {
  const help = goLiveHelp(item.code, useHasPage(), useIsSuspended());
  return (
    <>
      {help.hint}{" "}
      {help.link && (
        <Anchor component={Link} to={help.link.to} size="xs">
          {help.link.label}
        </Anchor>
      )}
    </>
  );
}
