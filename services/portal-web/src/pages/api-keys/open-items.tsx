import { Anchor, List } from "@mantine/core";
import { Link } from "react-router-dom";
import type { GoLiveItem } from "../../api/types";
import { wayTo } from "../../app/go-live";

interface OpenItemsProps {
  items: GoLiveItem[];
  /** When a link is followed, such as out of a dialog. */
  onFollow?: () => void;
}

/** What is open of the go-live list, each with the way to it. */
export function OpenItems({ items, onFollow }: OpenItemsProps) {
  return (
    <List size="sm" spacing={4}>
      {items
        .filter((item) => !item.done)
        .map((item) => {
          const way = wayTo(item.code);
          return (
            <List.Item key={item.code}>
              {item.label}
              {way.link && (
                <>
                  {" · "}
                  <Anchor component={Link} to={way.link.to} onClick={onFollow} size="sm">
                    {way.link.label}
                  </Anchor>
                </>
              )}
            </List.Item>
          );
        })}
    </List>
  );
}
