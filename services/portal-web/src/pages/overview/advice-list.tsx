import { Group } from "@mantine/core";
import type { Advice } from "../../api/types";
import { InlineCode } from "../../components/code-block";
import { CopyButton } from "../../components/copy-button";
import { Section } from "../../components/section";
import { CheckItem, CheckList } from "./check-item";
import { DoneAt, HowTo } from "./go-live-list";

/** What a careful integration has tried before it goes live, with the requests that prove it. It locks nothing. */
export function AdviceList({ advice }: { advice: Advice[] }) {
  return (
    <Section title="Tried and proven" description="Advised before live orders; nothing waits for it.">
      <CheckList label="Advice before going live">
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
