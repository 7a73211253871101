import { ConfirmButton } from "./confirm-button";

interface WithdrawClosingProps {
  description: string;
  onWithdraw: () => Promise<unknown>;
}

export function WithdrawClosing({ description, onWithdraw }: WithdrawClosingProps) {
  return (
    <ConfirmButton
      title="Keep this business?"
      description={description}
      confirm="Withdraw closing"
      isGain
      onConfirm={onWithdraw}
    >
      Withdraw closing
    </ConfirmButton>
  );
}
