import { lazy, Suspense, useState } from "react";
import { UserButton } from "./user-button";
import classes from "./user-menu.module.css";

const loadMenu = () => import("./account-menu");
const AccountMenu = lazy(loadMenu);

/** The account menu at the foot of the side bar. Its code is loaded on hover, focus or click. */
export function UserMenu() {
  const [isWanted, setIsWanted] = useState(false);
  const closed = (
    <UserButton
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={loadMenu}
      onFocus={loadMenu}
      onClick={() => setIsWanted(true)}
    />
  );
  return (
    <div className={classes.holder}>
      {isWanted ? (
        <Suspense fallback={closed}>
          <AccountMenu />
        </Suspense>
      ) : (
        closed
      )}
    </div>
  );
}
