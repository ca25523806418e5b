// Packs files into the archive that VS Code installs: a ZIP file with a manifest of its own.

import { deflateRawSync } from "node:zlib";

const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function checksum(content) {
  let value = 0xffffffff;
  for (const byte of content) value = TABLE[(value ^ byte) & 0xff] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** 1 January 1980: the same sources make the same archive. */
const DATE = 0x21;
const DEFLATED = 8;
/** The version of the format that has folders and deflated files. */
const VERSION = 20;

/** Returns the fields that both headers of a file have. */
function fields(name, content, packed) {
  const header = Buffer.alloc(26);
  header.writeUInt16LE(VERSION, 0);
  header.writeUInt16LE(DEFLATED, 4);
  header.writeUInt16LE(DATE, 8);
  header.writeUInt32LE(checksum(content), 10);
  header.writeUInt32LE(packed.length, 14);
  header.writeUInt32LE(content.length, 18);
  header.writeUInt16LE(Buffer.byteLength(name), 22);
  return header;
}

const signature = (number) => Buffer.from([0x50, 0x4b, number & 0xff, number >> 8]);

/** Returns a ZIP file with these files: `[name, content]`. */
export function zip(files) {
  const locals = [];
  const entries = [];
  let offset = 0;
  for (const [name, text] of files) {
    const content = Buffer.from(text);
    const packed = deflateRawSync(content, { level: 9 });
    const common = fields(name, content, packed);
    const local = Buffer.concat([signature(0x0403), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    const made = Buffer.from([VERSION, 3]);
    entries.push(Buffer.concat([signature(0x0201), made, common, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, signature(0x0605), end]);
}

const TYPES = { css: "text/css", js: "application/javascript", json: "application/json", md: "text/markdown", png: "image/png", svg: "image/svg+xml", vsixmanifest: "text/xml" };

function contentTypes() {
  const rows = Object.entries(TYPES).map(([end, type]) => `<Default Extension=".${end}" ContentType="${type}"/>`);
  return `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${rows.join("")}</Types>
`;
}

function manifestOf({ name, displayName, description, version, publisher, engines }) {
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
<DisplayName>${displayName}</DisplayName>
<Description xml:space="preserve">${description}</Description>
<Categories>Other</Categories>
<Properties>
<Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/>
<Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
</Properties>
<Icon>extension/icon.png</Icon>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Icons.Default" Path="extension/icon.png" Addressable="true"/>
</Assets>
</PackageManifest>
`;
}

/** Returns the archive of an extension. `files` are `[name, content]`, one of them `package.json`. */
export function packExtension(files) {
  const manifest = JSON.parse(files.find(([name]) => name === "package.json")[1]);
  return zip([
    ["extension.vsixmanifest", manifestOf(manifest)],
    ["[Content_Types].xml", contentTypes()],
    ...files.map(([name, content]) => [`extension/${name}`, content]),
  ]);
}
