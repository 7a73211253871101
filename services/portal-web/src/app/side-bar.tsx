import { IconBook } from "@tabler/icons-react";
import { NavLink } from "react-router-dom";
import { docsUrl, useConfig } from "../api/config";
import { Brand } from "./brand";
import navLink from "./nav-link.module.css";
import { NAVIGATION, type NavigationEntry } from "./navigation";
import { SearchOrders } from "./search-orders";
import classes from "./side-bar.module.css";
import { useHasPage } from "./use-has-page";
import { UserMenu } from "./user-menu";

/** The navigation and the account menu. */
export function SideBar({ onNavigate }: { onNavigate: () => void }) {
  const config = useConfig();
  return (
    <div className={classes.bar}>
      <div className={classes.brand}>
        <Brand />
      </div>
      <div className={classes.search}>
        <SearchOrders hasShortcut />
      </div>
      <nav aria-label="Main" className={classes.nav}>
        {NAVIGATION.map((group) => (
          <div key={group.heading ?? "first"} className={classes.group}>
            {group.heading && <div className={classes.heading}>{group.heading}</div>}
            {group.entries.map((entry) => (
              <Entry key={entry.path} entry={entry} onNavigate={onNavigate} />
            ))}
          </div>
        ))}
        <div className={classes.group}>
          <a href={docsUrl(config)} className={`${navLink.link} ${classes.link}`}>
            <IconBook size={17} stroke={1.7} aria-hidden />
            API documentation
          </a>
        </div>
      </nav>
      <UserMenu />
    </div>
  );
}

function Entry({ entry, onNavigate }: { entry: NavigationEntry; onNavigate: () => void }) {
  const hasPage = useHasPage();
  if (!hasPage(entry.path)) return null;
  return (
    <NavLink
      to={entry.path}
      end={entry.path === "/"}
      className={`${navLink.link} ${classes.link}`}
      onClick={onNavigate}
    >
      <entry.icon size={17} stroke={1.7} aria-hidden />
      {entry.label}
    </NavLink>
  );
}
