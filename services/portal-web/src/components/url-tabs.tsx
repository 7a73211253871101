import { Skeleton, Tabs } from "@mantine/core";
import { type ReactNode, Suspense } from "react";
import { useSearchParams } from "react-router-dom";
import classes from "./url-tabs.module.css";

interface UrlTab {
  /** Its name in the URL. */
  value: string;
  label: string;
  /** May be loaded on demand. */
  panel: ReactNode;
}

/** Tabs that the URL names, so that they can be bookmarked. The first is the page without a name. */
export function UrlTabs({ tabs }: { tabs: UrlTab[] }) {
  const [search, setSearch] = useSearchParams();
  const first = tabs[0]?.value;
  const tab = tabs.find(({ value }) => value === search.get("tab"))?.value ?? first;
  return (
    <Tabs
      value={tab}
      // The filters of another tab go with it.
      onChange={(next) => setSearch(next && next !== first ? { tab: next } : {}, { replace: true })}
      keepMounted={false}
    >
      <Tabs.List mb="md" className={classes.tabs}>
        {tabs.map(({ value, label }) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ value, panel }) => (
        <Tabs.Panel key={value} value={value}>
          <Suspense fallback={<Skeleton height={360} radius="lg" />}>{panel}</Suspense>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
