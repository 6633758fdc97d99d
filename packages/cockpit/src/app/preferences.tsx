import { Languages, LogOut, SunMoon } from "lucide-react";
import { useSyncExternalStore, type ReactNode } from "react";
import { chooseLanguage, type Language } from "../i18n/languages.ts";
import { useLanguage, useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import { useApi } from "./app-context.ts";
import { chooseTheme, theme, type Theme } from "./theme.ts";

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const CHOICES: readonly Language[] = ["en", "zh"];

/** How the cockpit looks and speaks, and the way out where one had to sign in. */
export function Preferences(): ReactNode {
  const t = useMessages().common;
  const { session } = useApi();
  const chosenTheme = useSyncExternalStore(theme.subscribe, theme.get);
  const chosenLanguage = useLanguage();
  const iconButton = (label: string, icon: ReactNode): React.JSX.Element => (
    <Button look="ghost" icon aria-label={label} title={label}>
      {icon}
    </Button>
  );
  return (
    <>
      <Menu
        side="top"
        trigger={iconButton(t.theme.label, <SunMoon aria-hidden />)}
        groups={[
          {
            label: t.theme.label,
            items: THEMES.map((value) => ({
              label: t.theme[value],
              isChosen: value === chosenTheme,
              onSelect: () => chooseTheme(value),
            })),
          },
        ]}
      />
      <Menu
        side="top"
        trigger={iconButton(t.language.label, <Languages aria-hidden />)}
        groups={[
          {
            label: t.language.label,
            items: CHOICES.map((value) => ({
              label: t.language[value],
              isChosen: value === chosenLanguage,
              onSelect: () => chooseLanguage(value),
            })),
          },
        ]}
      />
      {session.hasToken ? (
        <Button
          look="ghost"
          icon
          aria-label={t.signIn.signOut}
          title={t.signIn.signOut}
          onClick={() => session.signOut()}
        >
          <LogOut aria-hidden />
        </Button>
      ) : null}
    </>
  );
}
