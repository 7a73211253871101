import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useMemo } from "react";
import { RouterProvider } from "react-router-dom";
import { useConfig } from "../api/config";
import { router } from "./routes";
import { themeFor, variablesFor } from "./theme";

export function Providers({ client }: { client: QueryClient }) {
  return (
    <QueryClientProvider client={client}>
      <Branded />
    </QueryClientProvider>
  );
}

/** Applies the operator's theme to all pages. */
function Branded() {
  const { accentColor } = useConfig().brand;
  const theme = useMemo(() => themeFor(accentColor), [accentColor]);
  const variables = useMemo(() => variablesFor(accentColor), [accentColor]);
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
      <Notifications position="bottom-right" limit={3} />
      <RouterProvider router={router} />
    </MantineProvider>
  );
}
