//! Lines as agents see them, each with a secret. `«…»` marks the text that must be removed.

use super::super::*;
use crate::rules::shapes::samples::fill;

/// Secrets in typical places. None of them is real: long values are generated.
const LINES: &[&str] = &[
    // Variables and `.env` files.
    "DB_PASS=«hunter2horse»",
    "DB_PASS=«swordfish»",
    "export DB_PASS='«sword fish»'",
    "MYSQL_PWD=«t0psecret» mysql -u root",
    "PGPASSWORD=«{a12}» psql -h db -U app",
    "SMTP_PASS=«{a16}»",
    "REDIS_AUTH=«{a24}»",
    "POSTGRES_PASSWORD: «mysecretpw»",
    "      - MYSQL_ROOT_PASSWORD=«example-root-1»",
    "ENV APP_SECRET «{a20}»",
    "ARG NPM_TOKEN=«{a36}»",
    "set -gx OPENAI_KEY «{a40}»",
    "$env:API_TOKEN = \"«{a30}»\"",
    "setx DB_PASSWORD \"«Winter2024!»\"",
    "SECRET_KEY_BASE=«{h128}»",
    "DJANGO_SECRET_KEY='«dj-insecure-{a40}»'",
    "JWT_SECRET=«super-long-shared-thing»",
    "ENCRYPTION_KEY=«{b43}=»",
    "APP_KEY=base64:«{b43}=»",
    "DATABASE_URL=postgres://shop:«{a14}»@db.internal:5432/shop",
    "TWILIO_AUTH_TOKEN=«{h32}»",
    "DATADOG_API_KEY=«{h32}»",
    "DD_APP_KEY=«{h40}»",
    "HEROKU_API_KEY=«{u}»",
    "CLOUDFLARE_API_TOKEN=«{w40}»",
    "SNOWFLAKE_PASSWORD=«{a18}»",
    "VERCEL_TOKEN=«{a24}»",
    "ALGOLIA_ADMIN_KEY=«{h32}»",
    "OKTA_CLIENT_SECRET=«{w40}»",
    "LINE_CHANNEL_SECRET=«{h32}»\r",
    "API_KEY_PROD=«{a20}»",
    "DB_PASS_2=«{a10}»",
    "ADMIN_PASSWORD_OLD=«letmein-{d4}»",
    "AZURE_DEVOPS_EXT_PAT=«{l52}»",
    "GITHUB_PAT=«{a40}»",
    "PAT=«{a40}»",
    "github_pat: «{a40}»",
    "PASSWORD_SALT=«{a22}»",
    "APP_SALT=«{a22}»",
    "MAIL_PASSWORD=«abcd efgh ijkl mnop»",
    "MAIL_PASSWORD='«abcd efgh ijkl mnop»'",
    "smtp_password: \"«abcd efgh ijkl mnop»\"",
    "psql \"user=app password=${DB_PASS:-«swordfish»}\"",
    "      POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:-«swordfish»}",
    // JSON.
    r#"{"user":"app","pass":"«swordfish»"}"#,
    r#"{"pass": "«hunter2»"}"#,
    r#""pwd": "«Qwerty123!»","#,
    r#"{"db":{"password":"«correcthorse»","port":5432}}"#,
    r#"{"client_secret":"«{a32}»"}"#,
    r#"{"refresh_token": "«{w64}»"}"#,
    r#"{"apiKey":"«{a32}»","v":1}"#,
    r#"{"auths":{"registry.local":{"auth":"«dXNlcjpwYXNz»"}}}"#,
    r#"{"auths":{"ghcr.io":{"auth":"«{b40}»"}}}"#,
    r#"{"name":"DB_PASSWORD","value":"«{a14}»"}"#,
    r#"{ "Key": "API_TOKEN", "Value": "«{a20}»" }"#,
    r#"{"output":"DB_PASS=«{a12}»\nPORT=1"}"#,
    r#"{"command":"export DB_PASS=«{a12}» && make"}"#,
    r#"{"body":"{\"password\":\"«{a12}»\"}"}"#,
    r#"{"log":"user=app pass=«{a12}» host=db"}"#,
    r#"{"kty":"RSA","n":"{w80}","d":"«{w86}»"}"#,
    r#"{"kty":"oct","k":"«{w43}»"}"#,
    r#""private_key_passphrase": "«open {a8} sesame»""#,
    r#"{"secretAccessKey": "«{B40}»"}"#,
    r#"{"SessionToken": "«{b200}»"}"#,
    r#"{"connectionString":"Server=tcp:x;User Id=sa;Password=«{a14}»;"}"#,
    r#"{"webhook":"https://«hooks.slack.com/services/T{U8}/B{U8}/{a24}»"}"#,
    r#"{"x":"password=«{a10}»"}"#,
    // YAML.
    "password: «swordfish»",
    "  pass: «Sommer2023»",
    "username: app\npassword: «hunter2»",
    "user: app\npass: «swordfish»",
    "client-key-data: «{b120}»",
    "    token: «{a60}»",
    "  - name: DB_PASSWORD\n    value: «swordfish»",
    "  - name: STRIPE_KEY\n    value: \"«{a24}»\"",
    "private_key: |\n  «{b64}»",
    "password: >-\n  «{a18}»",
    "api_key: '«{a32}»'",
    "  basic_auth_password: «p4ssw0rd»",
    "auth_token: «{w40}»  # rotate",
    // TOML, INI, properties, XML.
    "password = \"«swordfish»\"",
    "[client]\nuser = root\npassword = «swordfish»",
    "[smtp]\nhost = mail\npass = «swordfish»",
    "aws_secret_access_key = «{B40}»",
    "spring.datasource.password=«swordfish»",
    "spring.mail.password = «Geheim123»",
    "db.pass=«{a12}»",
    "api.token = «{a32}»",
    "<password>«swordfish»</password>",
    "<add key=\"DbPassword\" value=\"«{a12}»\" />",
    "<key>Password</key>\n  <string>«{a12}»</string>",
    "<property name=\"password\" value=\"«{a12}»\"/>",
    "<apiKey>«{a32}»</apiKey>",
    "PrivateKey = «{b43}=»",
    "PresharedKey = «{b43}=»",
    "PrivateKey=«{b43}=»\r",
    "//registry.npmjs.org/:_authToken=«{u}»",
    "_auth=«{b32}»",
    "_auth = «dXNlcjpwYXNzd29yZA==»",
    "//npm.local/:_password=«{b24}»",
    "requirepass «{a20}»",
    "masterauth «{a20}»",
    "rootpw «swordfish9»",
    "machine api.local login me password «swordfish»",
    "machine api.local\n  login me\n  password «{a20}»",
    "default login anonymous password «me-{a6}»",
    "db.local:5432:shop:app:«swordfish»",
    "*:*:*:postgres:«{a12}»",
    "localhost:6432:shop:app:«p@ss-{a6}»",
    "machine mail.local port 587 login anna password «swordfish»",
    "3:db.local:5432:shop:app:«swordfish»",
    ".pgpass:3:db.local:5432:shop:app:«swordfish»",
    "/home/anna/.pgpass:db.local:5432:shop:app:«swordfish»",
    "bindpw «swordfish9»",
    "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«{b86}==»;EndpointSuffix=y",
    "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=«{b43}=»",
    "root:«$6${a16}${a86}»:19000:0:99999:7:::",
    "app:«$2y$10${a53}»",
    // Command lines.
    "curl -u admin:«swordfish» https://x.local/api",
    "curl -sS --user 'me:«{a12}»' https://x.local",
    "curl -uadmin:«{a12}» https://x.local",
    "curl -X POST \\\n  -u bob:«{a12}» \\\n  https://x.local",
    "curl -b 'session=«{h32}»' https://x.local",
    "curl -H 'X-Api-Key: «{a32}»' https://x.local",
    "curl -H \"Authorization: Bearer «{w40}»\" https://x.local",
    "curl -H 'Private-Token: «{a20}»' https://git.local",
    "curl 'https://x.local/?access_token=«{a40}»&v=1'",
    r#"{"command":"curl -u \"me:«{a12}»\" https://x.local"}"#,
    r#"{"command":"curl \\\n  -u me:«{a12}» \\\n  https://x.local"}"#,
    "mysql -u root -p«swordfish» shop",
    "mysqldump -uapp -p'«{a12}»' shop > x.sql",
    "mysql --user=app --password=«swordfish» shop",
    "sshpass -p '«{a12}»' ssh me@x.local",
    "sshpass -p«{a12}» ssh me@x.local",
    "redis-cli -h r.local -a «{a20}» ping",
    "docker login -u me -p «{a20}» registry.local",
    "echo «{a20}» | docker login -u me --password-stdin",
    "echo '«{a12}»' | sudo -S apt update",
    "echo 'root:«{a12}»' | chpasswd",
    "mongosh -u app -p «{a14}» --authenticationDatabase admin",
    "htpasswd -b .htpasswd me «swordfish1»",
    "openssl rsa -in k.pem -passin pass:«{a12}»",
    "ldapsearch -x -D cn=admin -w «{a12}» -b dc=x",
    "smbclient //srv/x -U me%«{a12}»",
    "7z x -p«{a12}» secret.7z",
    "zip -P «{a12}» out.zip x",
    "sqlplus shop/«{a12}»@db.local",
    "sqlplus shop/«{a12}»",
    "sqlplus -M 'HTML ON' -C 12.2 shop/«{a12}»@db.local",
    "sqlplus -s 'shop/«{a12}»' @run/all.sql",
    "lftp -u anna,«swordfish» ftp.local",
    "plink -ssh -pw «{a12}» me@x.local",
    "twine upload -u me -p «{a12}» dist/*",
    "az acr login -n shop -u me -p «{a20}»",
    "CREATE USER a IDENTIFIED WITH mysql_native_password BY '«swordfish»';",
    "alter user a identified with 'caching_sha2_password' by '«{a12}»';",
    "CREATE LOGIN app WITH PASSWORD = N'«swordfish»';",
    "keytool -list -keystore k.jks -storepass «changeit1»",
    "gpg --batch --passphrase «{a12}» -d x.gpg",
    "wget --password=«{a12}» https://x.local",
    "mytool --api-key «{a32}» run",
    "mytool --password «swordfish» run",
    "mytool --token=«{a32}» run",
    "az storage blob list --account-key «{b86}==»",
    "kubectl create secret generic x --from-literal=password=«{a12}»",
    "gh secret set API_TOKEN --body \"«ghp_{a36}»\"",
    "heroku config:set DB_PASSWORD=«{a12}»",
    "npm config set //npm.local/:_authToken «{a36}»",
    "aws configure set aws_secret_access_key «{B40}»",
    "java -Djavax.net.ssl.keyStorePassword=«{a12}» -jar x.jar",
    "rabbitmqctl add_user app «{a12}»",
    "CREATE USER app IDENTIFIED BY '«{a12}»';",
    "ALTER ROLE app WITH PASSWORD '«swordfish»';",
    "$p = ConvertTo-SecureString \"«{a12}»\" -AsPlainText -Force",
    // Code.
    "API_KEY = \"«qzxkvwjpgb»\"",
    "DB_PASSWORD = \"«correct_horse»\"",
    "SECRET_KEY = '«not_so_secret_words»'",
    "password = os.getenv(\"DB_PASS\",\"«swordfish»\")",
    "password = os.environ.get('DB_PASS', '«swordfish»')",
    "'password' => env('DB_PASSWORD', '«swordfish»'),",
    "const pass = process.env.DB_PASS || '«swordfish»';",
    "const pass = process.env[\"DB_PASS\"] ?? \"«swordfish»\";",
    "SET PASSWORD FOR 'app'@'%' = PASSWORD('«swordfish»');",
    "config.setPassword(\"«Winter2024»\");",
    "const password = \"«swordfish»\";",
    "password := \"«swordfish»\"",
    "client = Client(api_key=\"«{a32}»\")",
    "conn = connect(host='db', user='app', password='«swordfish»')",
    "os.environ[\"DB_PASSWORD\"] = \"«swordfish»\"",
    "std::env::set_var(\"API_TOKEN\", \"«{a32}»\");",
    "$config['db_pass'] = '«swordfish9»';",
    "define('DB_PASSWORD', '«{a14}»');",
    "private static final String SECRET = \"«{a32}»\";",
    "let token = \"«{a40}»\";",
    "+  apiKey: '«{a32}»',",
    "-    secret: \"«{h40}»\",",
    "12:    api_token = \"«{a32}»\"",
    "     7\t  password: «hunter2»",
    "config/database.yml:9:  password: «hunter2»",
    // URLs and connection strings.
    "postgres://app:«p/ss#w0rd»@db.local:5432/shop",
    "postgres://app:«#x/ya»@db",
    "postgres://app:«/xyza»@db",
    "postgres://app:«12345/ab»@db",
    "https://admin:«12345/ab»@host",
    "https://admin:«/x#yz»@host",
    "https://anna:«#{a8}»@git.local/x.git",
    "https://anna:«123456/{a8}»@git.local/x.git",
    "app:«{a12}»@tcp(db:3306)/shop?parseTime=true",
    "MYSQL_DSN=app:«p:w/#{a6}»@tcp(db:3306)/shop",
    "db, err := sql.Open(\"mysql\", \"app:«swordfish»@unix(/run/my.sock)/shop\")",
    "jdbc:oracle:thin:scott/«tiger9»@//db:1521/shop",
    "url = \"jdbc:oracle:thin:scott/«{a12}»@db:1521:orcl\"",
    "redis://:«{a20}»@r.local:6379/0",
    "amqp://app:«a#b/c?d»@mq.local/vhost",
    "mongodb+srv://app:«{a16}»@c0.mongo.local/shop?retryWrites=true",
    "https://me:«{a20}»@git.local/x.git",
    "git clone https://x-access-token:«ghs_{a36}»@github.com/a/b",
    "https://«{h32}»@o1.ingest.sentry.io/2",
    "https://x.blob.core.windows.net/c?sv=2022&se=2030&sig=«{a40}%2B{a6}%3D»",
    "smtp://me:«{a12}»@mail.local:587",
    "https://«discord.com/api/webhooks/{d18}/{w68}»",
    // Headers and cookies.
    "Authorization: Basic «dXNlcjpwYXNz»",
    "authorization: Bearer «{w40}»",
    "Proxy-Authorization: Basic «{b24}»",
    "Cookie: sessionid=«{l32}»",
    "Cookie: theme=dark; sid=«s%3A{a32}.{a43}»",
    "Set-Cookie: auth_token=«{w40}»; Path=/; HttpOnly",
    ".x.local\tTRUE\t/\tTRUE\t1893456000\tsid\t«{h32}»",
    "X-Auth-Token: «{a32}»",
    "x-api-key: «{a32}»",
    "DD-API-KEY: «{h32}»",
    "DD-APPLICATION-KEY: «{h40}»",
    "Authorization: Digest username=\"anna\", realm=\"x\", uri=\"/\", response=\"«{h32}»\", qop=auth",
    "X-Vault-Token: «hvs.{w90}»",
    // Prose.
    "The database password is «hunter2».",
    "my password is: «Winter2024!»",
    "Use the token «{a32}» for now.",
    "the API key is «{a32}»",
    "the root password was changed to «Tr0ub4dor»",
    "log in with password \"«hunter22»\"",
    "password `«hunter2»` works",
    "Here is the key: «AKIA{U16}»",
    "the secret that goes with it: «{B40}»",
    "bot token «{d10}:AA{w33}» for the channel",
    "Discord: «M{a23}.{w6}.{w38}»",
    "seed phrase: «legal winner thank year wave sausage worth useful legal winner thank yellow»",
    "\u{1b}[32mghp\u{1b}[0m is not one, \u{1b}[31m«ghp_{a36}»\u{1b}[0m is",
    "token%3D«ghp_{a36}»%26x",
    r"token\u003d«ghp_{a36}»\u0026x",
    "backup-«glpat-{w20}».txt",
    "ключ: «sk-ant-api03-{w93}»",
];

/// Lines with secrets that are longer than the part that is checked.
const LONG: &[&str] = &[
    "aws configure set aws_session_token «{b700}»",
    "aws configure set aws_session_token \"«{b700}»\"",
    "AWS_SESSION_TOKEN=«{b700}»",
    "the token is «{a700}» for now",
    "the token is '«{a700}»' for now",
    "ENV APP_SECRET «{a700}»",
    "<apiKey>«{a700}»</apiKey>",
    "https://aws:«{a1500}»@x.codeartifact.local/pypi",
    "db.local:5432:shop:app:«{a700}»",
    "docker login -u AWS -p «{a3000}» registry.local",
    "docker login -u AWS -p '«{a3000}»' registry.local",
    "echo «{a3000}» | docker login -u AWS --password-stdin",
    "Cookie: theme=dark; sid=«{a6000}»; lang=en",
    "Authorization: Bearer «{w2000}»",
    "password: «{a700}»",
    "export TOKEN=${API_TOKEN:-«{a700}»}",
];

fn marked(line: &str) -> (String, Vec<String>) {
    let line = fill(line);
    let secrets = line.split('«').skip(1);
    let secrets = secrets.map(|rest| rest.split('»').next().unwrap_or_default().to_owned());
    let secrets = secrets.collect();
    (line.replace(['«', '»'], ""), secrets)
}

/// Returns whether more than six characters of a secret, or all of it, are left.
fn is_left(secret: &str, left: &str) -> bool {
    left_of(secret, left) > 6.min(secret.len() - 1)
}

/// Returns the length of the longest part of the secret that is left.
fn left_of(secret: &str, left: &str) -> usize {
    let letters: Vec<char> = secret.chars().collect();
    let has = |length: &usize| {
        letters.windows(*length).any(|part| left.contains(&part.iter().collect::<String>()))
    };
    (1..=letters.len()).rev().find(has).unwrap_or(0)
}

#[test]
fn secrets_in_realistic_lines_are_removed() {
    assert!(LINES.len() >= 150, "{}", LINES.len());
    let mut missed = Vec::new();
    for line in LINES {
        let (text, secrets) = marked(line);
        for before in ["", "some words before it\n"] {
            let text = format!("{before}{text}\nand a line behind it\n");
            let left = redact(&text).into_owned();
            if secrets.iter().any(|secret| is_left(secret, &left)) {
                missed.push((text, left));
            }
        }
    }
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
}

#[test]
fn secrets_longer_than_the_checked_part_are_removed_to_their_end() {
    for line in LONG {
        let (text, secrets) = marked(line);
        let left = text.replace(&secrets[0], REDACTED);
        assert_eq!(redact(&text), left, "{line}");
        let inside = serde_json::json!({ "output": text }).to_string();
        assert_eq!(redact(&inside), inside.replace(&secrets[0], REDACTED), "{line} in JSON");
    }
}

#[test]
fn only_the_secret_is_removed_from_nearly_every_line() {
    let mut wrong = Vec::new();
    for line in LINES {
        let line = fill(line);
        let (start, rest) = line.split_once('«').expect("a secret");
        let end = rest.rsplit_once('»').expect("an end").1;
        let left = redact(&line.replace(['«', '»'], "")).into_owned();
        if left != format!("{start}{REDACTED}{end}") {
            wrong.push((line, left));
        }
    }
    assert!(wrong.len() <= LINES.len() / 20, "{} of {}: {wrong:#?}", wrong.len(), LINES.len());
}

#[test]
fn secrets_are_removed_inside_json_strings_and_with_windows_line_ends() {
    let mut missed = Vec::new();
    for line in LINES {
        let (text, secrets) = marked(line);
        let windows = text.replace('\n', "\r\n") + "\r\n";
        let inside = serde_json::json!({ "output": format!("before\n{text}\nafter") }).to_string();
        let twice = serde_json::json!({ "result": inside }).to_string();
        for text in [windows, inside, twice] {
            let left = redact(&text).into_owned();
            if secrets.iter().any(|secret| is_left(secret, &left)) {
                missed.push((text, left));
            }
        }
    }
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
}
