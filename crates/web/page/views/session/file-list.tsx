import type { ChangedFile } from "../../api/types.ts";
import type { ReviewComment } from "../../model/diff.ts";

export function fileAnchor(path: string): string {
  return `file-${encodeURIComponent(path)}`;
}

/** The changed files with their counts. A click scrolls to the file. */
export function FileList(props: { files: ChangedFile[]; comments: ReviewComment[] }) {
  const show = (path: string) => {
    const element = document.getElementById(fileAnchor(path));
    element?.scrollIntoView({ block: "start" });
    element?.focus();
  };
  return (
    <nav class="file-list" aria-label="Changed files">
      <ul>
        {props.files.map(({ path, added, removed }) => {
          const number = props.comments.filter((it) => it.path === path).length;
          return (
            <li key={path}>
              <button class="file" onClick={() => show(path)}>
                <span class="file-path">{path}</span>
                {number > 0 && <span class="pill is-accent">{number}</span>}
                <span class="counts">
                  {added === null ? (
                    "binary"
                  ) : (
                    <>
                      <span class="added-text">+{added}</span>{" "}
                      <span class="removed-text">−{removed}</span>
                    </>
                  )}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
