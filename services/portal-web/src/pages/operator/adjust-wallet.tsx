import { lazy, Suspense, useState } from "react";
import type { AdjustWalletDialogProps } from "./adjust-wallet-dialog";

const AdjustWalletDialog = lazy(async () => ({
  default: (await import("./adjust-wallet-dialog")).AdjustWalletDialog,
}));

/** The dialog, loaded when it is first opened. */
export function AdjustWallet(props: AdjustWalletDialogProps) {
  const [isWanted, setIsWanted] = useState(false);
  if (props.adjustment && !isWanted) setIsWanted(true);
  return (
    isWanted && (
      <Suspense fallback={null}>
        <AdjustWalletDialog {...props} />
      </Suspense>
    )
  );
}
