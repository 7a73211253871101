import { Anchor, List } from "@mantine/core";
import { Link } from "react-router-dom";
import type { GoLiveItem } from "../../api/types";
import { goLiveHelp } from "../../app/go-live";
import { useHasPage } from "../../app/use-has-page";
import { useIsSuspended } from "../../app/use-is-suspended";

interface OpenItemsProps {
  items: GoLiveItem[];
  /** Called when a link is followed, for example to close a dialog. */
  onFollow?: () => void;
}

/** The open items of the go-live list, each with a link. */
export function OpenItems({ items, onFollow }: OpenItemsProps) {
  const hasPage = useHasPage();
  const isSuspended = useIsSuspended();
  return (
    <List size="sm" spacing={4}>
      {items
        .filter((item) => !item.done)
        .map((item) => {
          const help = goLiveHelp(item.code, hasPage);
          return (
            <List.Item key={item.code}>
              {item.label}
              {isSuspended && item.code === "business_active" && ": your account is suspended"}
              {help.link && (
                <>
                  {" · "}
                  <Anchor component={Link} to={help.link.to} onClick={onFollow} size="sm">
                    {help.link.label}
                  </Anchor>
                </>
              )}
            </List.Item>
          );
        })}
    </List>
  );
}
