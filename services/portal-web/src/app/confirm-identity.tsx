import { lazy, Suspense, useEffect, useState } from "react";
import { type AccountScope, onConfirmationNeeded } from "../api/recent-authentication";

const Dialog = lazy(() => import("./confirm-identity-dialog"));

interface Asked {
  scope: AccountScope;
  settle: (isConfirmed: boolean) => void;
}

/** Shows a dialog when a call needs a recent authentication. Its code is loaded then. */
export function ConfirmIdentity() {
  const [asked, setAsked] = useState<Asked | null>(null);
  useEffect(() => {
    onConfirmationNeeded(
      (scope) =>
        new Promise((resolve) => {
          const settle = (isConfirmed: boolean) => {
            setAsked(null);
            resolve(isConfirmed);
          };
          setAsked({ scope, settle });
        }),
    );
    return () => onConfirmationNeeded(null);
  }, []);
  if (!asked) return null;
  return (
    <Suspense fallback={null}>
      <Dialog scope={asked.scope} onSettled={asked.settle} />
    </Suspense>
  );
}
