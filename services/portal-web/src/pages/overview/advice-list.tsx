import { Group } from "@mantine/core";
import type { Advice } from "../../api/types";
import { InlineCode } from "../../components/code-block";
import { CopyButton } from "../../components/copy-button";
import { Section } from "../../components/section";
import { CheckItem, CheckList } from "./check-item";
import { DoneAt, HowTo } from "./go-live-list";

/** Tests to run before going live, with the requests that prove them. Live orders do not depend on them. */
export function AdviceList({ advice }: { advice: Advice[] }) {
  return (
    <Section title="Recommended tests" description="Recommended before live orders, but not required.">
      <CheckList label="Recommended tests">
        {advice.map((item) => (
          <CheckItem key={item.code} label={item.label} done={item.done}>
            {item.done ? <DoneAt at={item.at} /> : <HowTo item={item} />}
            {item.requestIds.map((id) => (
              <Group key={id} gap={4} wrap="nowrap" mt={3}>
                <InlineCode>{id}</InlineCode>
                <CopyButton value={id} label={`Copy ${id}`} />
              </Group>
            ))}
          </CheckItem>
        ))}
      </CheckList>
    </Section>
  );
}
